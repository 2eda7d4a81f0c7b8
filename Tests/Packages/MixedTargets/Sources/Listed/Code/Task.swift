import CoreData

public class Task: NSManagedObject {}
