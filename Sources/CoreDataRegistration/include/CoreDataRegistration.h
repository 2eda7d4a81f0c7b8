// Nothing is to be called here: linking this target into a program is what tells the object graph of the stores that ship with CoreData.
