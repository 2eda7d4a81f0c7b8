internal import Foundation
public import Predicates

/// A value that a dictionary fetch returns or groups by.
@_spi(Stores) public struct FetchColumn: Sendable {
    /// The key in the dictionaries.
    public let name: String
    /// The expression of the value.
    public let expression: ExpressionTree
    /// The type to convert the value to; nil for no conversion.
    public let type: NSAttributeType?

    /// Creates a column from an element of `propertiesToFetch` or `propertiesToGroupBy`.
    ///
    /// - Throws: Code 134060 for a name that is not an attribute or to-one relationship of `entity`, and not a path to one.
    init(_ property: Any, of entity: NSEntityDescription, in list: String) throws {
        switch property {
        case let description as NSExpressionDescription:
            guard let expression = description.expression, !description.name.isEmpty else {
                throw Self.mistake(list, "An expression description has no \(description.expression == nil ? "expression" : "name").")
            }
            self.init(
                name: description.name, expression: try expression.tree(),
                type: description.expressionResultType == .undefinedAttributeType ? nil : description.expressionResultType)
        case let path as String: try self.init(path: path, of: entity, in: list)
        case let description as NSPropertyDescription: try self.init(path: description.name, of: entity, in: list)
        default:
            throw Self.mistake(
                list, "It holds \(property), of \(Swift.type(of: property)).",
                next: "Name attributes, relationships and key paths, as text or property descriptions.")
        }
    }

    private init(name: String, expression: ExpressionTree, type: NSAttributeType?) {
        self.name = name
        self.expression = expression
        self.type = type
    }

    /// Returns the column with another expression.
    package func replacing(_ expression: ExpressionTree) -> FetchColumn { FetchColumn(name: name, expression: expression, type: type) }

    /// Creates a column for an attribute, a to-one relationship, a path over to-one relationships, or a path to an operator such as
    /// `albums.@count`.
    private init(path: String, of entity: NSEntityDescription, in list: String) throws {
        try Self.check(path, of: entity, in: list)
        self.init(name: path, expression: .path(path == "objectID" ? "SELF" : path), type: nil)
    }

    private static func check(_ path: String, of entity: NSEntityDescription, in list: String) throws {
        var current = entity
        var manyKey: String?
        let keys = path.split(separator: ".").map(String.init)
        for (index, key) in keys.enumerated() {
            if key.hasPrefix("@") || (index == 0 && ["objectID", "self", "SELF"].contains(key)) { return }
            guard let property = current.propertiesByName[key] else {
                throw mistake(
                    list, "“\(current)” has no property “\(key)”, named in “\(path)”.",
                    next: "Its properties are: \(current.propertiesByName.keys.sorted().joined(separator: ", ")).")
            }
            if property.isTransient {
                throw mistake(list, "“\(path)” is transient: no store has it.", next: "Fetch objects instead of dictionaries.")
            }
            guard let relationship = property as? NSRelationshipDescription else {
                guard index == keys.count - 1 else { throw mistake(list, "“\(key)” in “\(path)” is not a relationship.") }
                break
            }
            if relationship.isToMany { manyKey = key }
            current = relationship.destinationEntity ?? current
        }
        if let manyKey {
            throw mistake(
                list, "“\(path)” leads over the to-many relationship “\(manyKey)”.",
                next: "Ask for what an operator makes of it, such as “\(manyKey).@count”.")
        }
    }

    private static func mistake(_ list: String, _ reason: String, next: String = "Fix the request.") -> NSError {
        CoreDataError.make(NSCoreDataError, "The fetch cannot be executed: \(list) is wrong.", reason: reason, next: next)
    }

    /// Returns the columns of a request: those it names, or all persistent attributes.
    static func columns(_ named: [Any]?, of entity: NSEntityDescription) throws -> [FetchColumn] {
        let all: () -> [Any] = { entity.properties.filter { $0 is NSAttributeDescription && !$0.isTransient } }
        return try (named ?? all()).map { try FetchColumn($0, of: entity, in: "propertiesToFetch") }
    }

    /// Returns a value for a dictionary.
    ///
    /// - Throws: Code 134060 if it cannot be converted to the type of the column.
    package func publicValue(_ value: PropertyValue) throws -> Any? {
        guard let value = value.any else { return nil }
        guard let type else { return value }
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        if let stored = AttributeCheck.conform(value, to: attribute) { return stored.any(for: attribute) }
        switch (type, value) {
        case (.integer16AttributeType, let number as Double), (.integer32AttributeType, let number as Double),
            (.integer64AttributeType, let number as Double):
            // An average in an integer column loses its fraction.
            if let whole = AttributeCheck.conform(number.rounded(.towardZero), to: attribute) { return whole.any(for: attribute) }
        case (.dateAttributeType, let seconds as Double) where seconds.isFinite: return Date(timeIntervalSinceReferenceDate: seconds)
        case (.stringAttributeType, let number as NSNumber): return number.stringValue
        default: break
        }
        throw CoreDataError.make(
            NSCoreDataError, "“\(name)” cannot be given as its expressionResultType says.",
            reason: "\(expression) gave \(AttributeCheck.describe(value)), of \(Swift.type(of: value)).",
            next: "Set the type of the expression's value, or .undefinedAttributeType.")
    }
}

extension StorableValue {
    /// Returns the value as a Foundation type.
    fileprivate func any(for attribute: NSAttributeDescription) -> Any? {
        switch self {
        case .null: nil
        case .integer(let number):
            attribute.attributeType == .booleanAttributeType ? NSNumber(value: number != 0) : NSNumber(value: number)
        case .double(let number):
            switch attribute.attributeType {
            case .dateAttributeType: Date(timeIntervalSinceReferenceDate: number)
            case .floatAttributeType: NSNumber(value: Float(number))
            default: NSNumber(value: number)
            }
        case .string(let text): text
        case .data(let data): data
        case .uuid(let uuid): uuid
        case .box(let box): box.value
        }
    }
}
