"""Charts, drawn by matplotlib onto axes that the caller gives: one file for each."""
