internal import Foundation

/// Maps a name given by `@objc(Name)` to its class, so that a model file that uses the name finds the class.
///
/// The `ManagedAccessors` plugin writes a subclass for each such class in the files that it translates, called `ObjectiveCName_` and the
/// name. It is looked up only when a model names a class that does not exist, so it costs nothing at launch.
open class ObjectiveCName {
    /// The class.
    open class var namedClass: AnyClass { self }

    /// Returns the name of the subclass for an Objective-C name.
    static func className(for name: some StringProtocol) -> String { "ObjectiveCName_\(name)" }

    /// Returns the class with the Objective-C name `name` in a module.
    static func managedObjectClass(named name: some StringProtocol, inModule module: String) -> (any ObjectClass.Type)? {
        (NSClassFromString("\(module).\(className(for: name))") as? ObjectiveCName.Type)?.namedClass as? any ObjectClass.Type
    }
}
