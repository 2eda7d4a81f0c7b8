/// The interface that a model needs of the class of an entity's objects. Only ``NSManagedObject`` conforms, with its subclasses.
package protocol ObjectClass: AnyObject {
    /// Whether it is the class of entities without a class of their own.
    static var isStandardClass: Bool { get }
    /// Whether it overrides `validateValue(_:forKey:)`.
    static var overridesValidateValue: Bool { get }
}
