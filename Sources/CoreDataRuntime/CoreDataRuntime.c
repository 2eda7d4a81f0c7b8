// The module holds only the declarations of its header.
