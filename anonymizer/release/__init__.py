"""From a recoding and the input's records to the released file, and its appearance as a whole."""
