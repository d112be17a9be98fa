"""Where records live: files, frames, databases and engines, behind one interface."""
