internal import Foundation

/// The class that `@objc(Name)` gives another name, so that a model file that says `Name` finds it.
///
/// The `ManagedAccessors` plugin writes a subclass for each such class of the files that it translates. It is called `ObjectiveCName_` and the
/// name, and is looked up only when a model names a class that does not exist: it costs nothing at start.
open class ObjectiveCName {
    /// The class.
    open class var namedClass: AnyClass { NSManagedObject.self }

    /// The class that a model calls `Module.Name`, by its Swift or its Objective-C name.
    static func managedObjectClass(named name: String) -> NSManagedObject.Type? {
        if let found = NSClassFromString(name) as? NSManagedObject.Type { return found }
        guard let dot = name.lastIndex(of: ".") else { return nil }
        let subclass = "\(name[...dot])ObjectiveCName_\(name[name.index(after: dot)...])"
        return (NSClassFromString(subclass) as? ObjectiveCName.Type)?.namedClass as? NSManagedObject.Type
    }
}
