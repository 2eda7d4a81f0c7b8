/// What a model asks the class of an entity's objects. ``NSManagedObject`` conforms, with its subclasses, and nothing else does.
package protocol ObjectClass: AnyObject {
    /// Whether it is the class of entities that have none of their own.
    static var isStandardClass: Bool { get }
    /// Whether it overrides `validateValue(_:forKey:)`.
    static var overridesValidateValue: Bool { get }
}
