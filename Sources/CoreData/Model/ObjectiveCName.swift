internal import Foundation

/// The class that `@objc(Name)` gives another name, so that a model file that says `Name` finds it.
///
/// The `ManagedAccessors` plugin writes a subclass for each such class of the files that it translates. It is called `ObjectiveCName_` and the
/// name, and is looked up only when a model names a class that does not exist: it costs nothing at start.
open class ObjectiveCName {
    /// The class.
    open class var namedClass: AnyClass { NSManagedObject.self }

    /// How the subclass for a name is called.
    static func className(for name: some StringProtocol) -> String { "ObjectiveCName_\(name)" }

    /// The class that has the Objective-C name `name` in a module.
    static func managedObjectClass(named name: some StringProtocol, inModule module: String) -> NSManagedObject.Type? {
        (NSClassFromString("\(module).\(className(for: name))") as? ObjectiveCName.Type)?.namedClass as? NSManagedObject.Type
    }
}
