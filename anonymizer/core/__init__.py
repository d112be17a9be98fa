"""Values that the stages hand to each other: frozen, numpy only, free of files and of plug-ins."""
