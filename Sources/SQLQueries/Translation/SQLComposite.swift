internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// A composite attribute in SQL, or a nested one: a column that holds an archived dictionary, and the path to an element in it.
struct SQLComposite {
    let attribute: NSCompositeAttributeDescription
    /// The names of the entity and the attributes along the path, for messages.
    let name: String
    let column: SQLFragment
    private let path: [String]

    /// Creates the composite of a column; nil for another kind of attribute.
    init?(_ attribute: NSPropertyDescription, of entity: NSEntityDescription, column: SQLFragment) {
        guard let attribute = attribute as? NSCompositeAttributeDescription else { return nil }
        self.init(attribute: attribute, name: "\(entity).\(attribute.name)", column: column, path: [])
    }

    private init(attribute: NSCompositeAttributeDescription, name: String, column: SQLFragment, path: [String]) {
        self.attribute = attribute
        self.name = name
        self.column = column
        self.path = path
    }

    /// Returns the value of an element; nil where there is none of the name.
    ///
    /// A function reads it from the archive in each row: indexes are not used.
    func element(_ key: String) -> SQLTerm? {
        guard let element = attribute.elements.first(where: { $0.name == key }) else { return nil }
        if let inner = element as? NSCompositeAttributeDescription {
            let composite = SQLComposite(attribute: inner, name: "\(name).\(key)", column: column, path: path + [key])
            return SQLTerm(sql: composite.value(of: inner), kind: .opaque, composite: composite)
        }
        let inside = SQLComposite(attribute: attribute, name: "\(name).\(key)", column: column, path: path + [key])
        return SQLTerm(sql: inside.value(of: element), kind: Self.kind(of: element))
    }

    private func value(of element: NSAttributeDescription) -> SQLFragment {
        "CoreDataElement(\(SQLBinding.text(path.joined(separator: "."))), \(SQLBinding.integer(Int64(element.attributeType.rawValue))), \(column))"
    }

    private static func kind(of element: NSAttributeDescription) -> SQLKind {
        switch SQLStorage(element) {
        case .integer: .number(.integer)
        case .boolean: .number(.boolean)
        case .double: .number(.plain)
        case .decimal: .number(.any)
        case .date: .date
        case .text: .text
        case .data, .externalData: .data
        case .uuid: .uuid
        case .uri: .url
        case .transformable, .composite, nil: .opaque
        }
    }
}
