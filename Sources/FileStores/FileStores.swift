// The module's first file; it goes when there is another.
