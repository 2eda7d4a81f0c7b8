@_spi(Stores) internal import ObjectGraph

/// A composite attribute in SQL, or a nested one: a column that holds all its elements, and the path to an element in it.
struct SQLComposite {
    let attribute: NSCompositeAttributeDescription
    /// The names of the entity and the attributes along the path, for messages.
    let name: String
    let column: SQLFragment
    /// The names of the nested attributes, down to the element.
    let path: [String]

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

    /// Returns an element with its place; nil if there is none with the name.
    func element(_ key: String) -> (NSAttributeDescription, SQLComposite)? {
        guard let element = attribute.elements.first(where: { $0.name == key }) else { return nil }
        let inner = element as? NSCompositeAttributeDescription ?? attribute
        return (element, SQLComposite(attribute: inner, name: "\(name).\(key)", column: column, path: path + [key]))
    }
}

extension SQLTerm {
    /// Creates the value of an element of a composite attribute.
    init(sql: SQLFragment, of element: NSAttributeDescription, _ place: SQLComposite) {
        let kind: SQLKind =
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
        self.init(sql: sql, kind: kind)
        if element is NSCompositeAttributeDescription { composite = place }
    }
}
