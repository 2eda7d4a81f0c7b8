internal import Foundation
package import ObjectGraph

/// A column of a query: a property, or a path to one over to-one relationships.
package struct ColumnPath {
    package let text: String
    /// The properties of the path; empty for the ID of the object.
    package let properties: [NSPropertyDescription]
    /// Whether the column is the number of objects of a to-many relationship.
    package let isCount: Bool

    /// Creates a column.
    ///
    /// - Throws: An error with the existing properties, for an unknown name.
    package init(_ text: String, of entity: NSEntityDescription) throws {
        self.text = text
        var (current, properties, isCount) = (entity, [NSPropertyDescription](), false)
        let keys = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        for (index, key) in keys.enumerated() {
            let isLast = index == keys.count - 1
            if isLast, ["objectID", "self", "id"].contains(key), current.propertiesByName[key] == nil { break }
            if key == "@count", isLast, (properties.last as? NSRelationshipDescription)?.isToMany == true {
                isCount = true
                break
            }
            guard let property = current.propertiesByName[key] else {
                throw CommandError.make(
                    "There is no column “\(text)”.", reason: "“\(current)” has no property “\(key)”.",
                    next: "It has: \(current.propertiesByName.keys.sorted().joined(separator: ", ")).")
            }
            properties.append(property)
            if isLast { break }
            guard let relationship = property as? NSRelationshipDescription, let destination = relationship.destinationEntity else {
                throw CommandError.make("There is no column “\(text)”.", reason: "“\(key)” is not a relationship.")
            }
            if relationship.isToMany, keys[index + 1] != "@count" {
                throw CommandError.make(
                    "There is no column “\(text)”.", reason: "“\(key)” is a to-many relationship: it has no single value.",
                    next: "Use “\(keys[...index].joined(separator: ".")).@count”, or query “\(destination)”.")
            }
            current = destination
        }
        (self.properties, self.isCount) = (properties, isCount)
    }

    /// Returns the columns of a list such as `title,artist.name`; without a list, the stored attributes and to-one relationships.
    package static func columns(_ list: String?, of entity: NSEntityDescription) throws -> [ColumnPath] {
        if let list {
            return try list.split(separator: ",").map { try ColumnPath($0.trimmingCharacters(in: .whitespaces), of: entity) }
        }
        func place(_ property: NSPropertyDescription) -> Int { property is NSRelationshipDescription ? 1 : 0 }
        let shown = entity.properties.filter { property in
            if property.isTransient { return false }
            return property is NSAttributeDescription || (property as? NSRelationshipDescription)?.isToMany == false
        }
        return try shown.sorted { (place($0), $0.name) < (place($1), $1.name) }.map { try ColumnPath($0.name, of: entity) }
    }

    /// The path of the relationships to prefetch for the column; nil for none.
    package var prefetchedPath: String? {
        let relationships = properties.prefix { $0 is NSRelationshipDescription }.map(\.name)
        // Of a final to-one relationship, only the ID of the object is read.
        let last = properties.last as? NSRelationshipDescription
        let read = last.map { $0.isToMany ? relationships : relationships.dropLast() } ?? relationships
        return read.isEmpty ? nil : read.joined(separator: ".")
    }

    /// Returns the value for an object. Call it on the queue of its context.
    package func value(of object: NSManagedObject) -> (value: Any?, property: NSPropertyDescription?) {
        if properties.isEmpty { return (object.objectID, nil) }
        var current = object
        for property in properties.dropLast() {
            guard let next = current.value(forKey: property.name) as? NSManagedObject else { return (nil, properties.last) }
            current = next
        }
        guard let last = properties.last else { return (nil, nil) }
        // A path that ends with a relationship has the ID of the related object.
        return (current.value(forKey: last.name), last)
    }

    /// Returns the value for an object as JSON. Call it on the queue of its context.
    package func json(of object: NSManagedObject) -> JSONValue {
        let (value, property) = value(of: object)
        if isCount { return .count(Self.count(value)) }
        guard let property else { return .string(object.objectID.uriRepresentation().absoluteString) }
        return ValueText.json(value, property)
    }

    /// Returns the value for an object as a field of CSV. Call it on the queue of its context.
    package func field(of object: NSManagedObject) -> String {
        let (value, property) = value(of: object)
        guard !isCount, let property else { return ValueText.field(json(of: object)) }
        return ValueText.field(value, property)
    }

    /// Returns the value for an object as a cell of a table. Call it on the queue of its context.
    package func cell(of object: NSManagedObject) -> TextTable.Cell {
        let (value, property) = value(of: object)
        if isCount { return .init("\(Self.count(value))", isNumber: true) }
        guard let property else { return .init(ValueText.short(object.objectID)) }
        return ValueText.cell(value, property)
    }

    private static func count(_ value: Any?) -> Int {
        switch value {
        case let set as NSOrderedSet: set.count
        case let set as NSSet: set.count
        case let set as Set<NSManagedObject>: set.count
        default: 0
        }
    }
}
