"""Relations in Apache Spark: counted and written by a cluster, or by the processes of one machine."""
