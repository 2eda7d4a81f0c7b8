/// A change that a page makes.
package struct Edit: Decodable, Sendable {
    /// The kinds of changes.
    package enum Action: String, Decodable, Sendable {
        /// Sets an attribute, or the object of a to-one relationship.
        case set
        /// Adds an object to a to-many relationship.
        case add
        /// Removes an object from a to-many relationship.
        case remove
        /// Moves an object of an ordered relationship to another position.
        case move
        case create
        case delete
        case undo
        case redo
        case save
        /// Discards unsaved changes.
        case discard
    }

    package let action: Action
    /// The reference of the changed object.
    package let id: String?
    /// The entity of a new object.
    package let entity: String?
    /// The property.
    package let name: String?
    /// The value as text, bytes in Base64; nil for no value.
    package let value: String?
    /// The reference of the related object.
    package let object: String?
    /// The new position of a moved object.
    package let place: Int?
}
