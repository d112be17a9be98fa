"""The Apache Spark engine, for data that one machine cannot hold."""
