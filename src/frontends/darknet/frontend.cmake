# Nothing beyond the sources: files are read by hand.
