import CoreData

public enum Queries {}
