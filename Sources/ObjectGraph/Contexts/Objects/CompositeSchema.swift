internal import Foundation
package import Predicates

/// Resolves the elements of a composite attribute for compiled predicates, for key paths such as `place.latitude`.
///
/// Its subjects are the objects or rows that have the attribute.
// Immutable; its subjects are used on the queue of their context or under the lock of their table.
final class CompositeSchema: PredicateSchema, @unchecked Sendable {
    let schemaName: String
    private let elements: [String: NSAttributeDescription]
    /// Reads the dictionary of a subject; nil if it has none.
    private let read: (PredicateSubject) -> [String: Any]?

    private init(_ attribute: NSCompositeAttributeDescription, called name: String, _ read: @escaping (PredicateSubject) -> [String: Any]?)
    {
        schemaName = name
        elements = Dictionary(attribute.elements.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.read = read
    }

    /// Returns the schema property of an attribute without a slot that predicates read directly.
    ///
    /// - Parameters:
    ///   - attribute: The attribute, composite or other.
    ///   - owner: The name of the schema that has it.
    ///   - value: Reads the attribute of a subject.
    static func property(
        _ attribute: NSPropertyDescription, of owner: String, _ value: @escaping (PredicateSubject) -> Any?
    ) -> PredicateProperty {
        guard let composite = attribute as? NSCompositeAttributeDescription else { return .computed { try PropertyValue(any: value($0)) } }
        // Its value is the subject itself, read through the elements.
        let read: (PredicateSubject) -> [String: Any]? = { AttributeCheck.unwrapped(value($0)) as? [String: Any] }
        return .toOne(
            destination: CompositeSchema(composite, called: "\(owner).\(attribute.name)", read),
            identity: { try PropertyValue(any: value($0)) }, follow: { read($0) == nil ? nil : $0 })
    }

    func predicateProperty(named name: String) -> PredicateProperty? {
        guard let element = elements[name] else { return nil }
        if element is NSCompositeAttributeDescription { return Self.property(element, of: schemaName) { [read] in read($0)?[name] } }
        return .computed { [read, schemaName] in try CompositeElements.value(read($0)?[name], of: element, at: "\(schemaName).\(name)") }
    }

    // Converting a dictionary does not fail.
    func identity(of subject: PredicateSubject) -> PropertyValue {
        (try? PropertyValue(any: read(subject))) ?? .null
    }

    func constant(for object: AnyObject) -> PropertyValue? { nil }

    func publicObject(of subject: PredicateSubject) -> Any { read(subject) ?? [:] }
}

extension CompositeElements {
    /// Returns the value of an element as predicates compare it.
    ///
    /// - Throws: An error of the kind `unconvertibleValue` for a value that is not of the element's type: elements are not checked when
    ///   the composite is set.
    package static func value(_ value: Any?, of element: NSAttributeDescription, at place: String) throws -> PropertyValue {
        switch AttributeCheck.conform(value, to: element) {
        case .null: return .null
        case .integer(let number): return element.attributeType == .booleanAttributeType ? .bool(number != 0) : .int64(number)
        case .double(let number):
            return element.attributeType == .dateAttributeType ? .date(Date(timeIntervalSinceReferenceDate: number)) : .double(number)
        case .string(let text): return .string(text)
        case .data(let data): return .data(data)
        case .uuid(let uuid): return .uuid(uuid)
        case .box(let box): return try PropertyValue(any: box.value)
        case nil:
            throw InvalidPredicateError(
                kind: .unconvertibleValue,
                message: "A value of “\(place)” is \(AttributeCheck.describe(value)), which is not of the element's type")
        }
    }
}
