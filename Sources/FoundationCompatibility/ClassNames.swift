#if !canImport(ObjectiveC)
public import ObjectGraph

/// Returns the name of a managed object class, also of one that is nested in another type or private to a file.
///
/// Foundation's function of this name on Linux stops the program for such classes, and remains the one for classes of other kinds. The name
/// is `Module.Outer.Nested`, where Apple's is mangled. An entity whose `managedObjectClassName` it is finds the class.
///
/// - Parameter aClass: The class.
/// - Returns: The name. Of two private classes that would have one name, the second has a number too, in the order of these calls.
public func NSStringFromClass(_ aClass: NSManagedObject.Type) -> String {
    ManagedClassNames.shared.name(of: aClass)
}
#endif
