"""What a release is still good for: each measure one class in one file, beside originals and mere ``*``."""
