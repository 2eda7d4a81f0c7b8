internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The names of entities and properties in an XML store, as Apple's framework writes them: entities in upper case, properties in lower case. Names
/// that differ only in their case are written unchanged.
// Immutable.
final class XMLStoreNames: Sendable {
    /// An entity, and its columns in the order of the file.
    final class Entity: Sendable {
        let entity: NSEntityDescription
        let name: String
        /// The columns, in the order of the entity's properties.
        let columns: [ArchiveColumn]
        /// The names of the columns in the file.
        let names: [[UInt8]]
        /// The indexes of attributes in the order in which they are written, and those of relationships.
        let written: [Int]
        /// The text before the value of each column: the tag of an attribute up to its text, that of a relationship up to its references.
        let beginnings: [[UInt8]]
        private let indexes: [[UInt8]: Int]

        fileprivate init(_ entity: NSEntityDescription, names: [ObjectIdentifier: String]) throws {
            self.entity = entity
            name = names[ObjectIdentifier(entity)] ?? ""
            let columns = try ArchiveColumn.columns(of: entity)
            self.columns = columns
            let files = XMLStoreNames.fileNames(columns.map(\.name)) { $0.lowercased() }
            self.names = files.map { Array($0.utf8) }
            indexes = Dictionary(self.names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
            beginnings = zip(columns, files).map { column, name in
                let name = XMLStoreText.inAttribute(name)
                guard let relationship = column.relationship else {
                    return Array("\n        <attribute name=\"\(name)\" type=\"\(column.typeName)\">".utf8)
                }
                let destination = relationship.destinationEntity.flatMap { names[ObjectIdentifier($0)] } ?? ""
                return Array(
                    """
                    \n        <relationship name="\(name)" type="\(relationship.minCount)/\(relationship.maxCount)" \
                    destination="\(XMLStoreText.inAttribute(destination))"
                    """.utf8)
            }
            // Apple's framework writes an entity's own attributes before those of its superentity, each in descending order; relationships follow
            // them, to-one relationships first, in ascending order.
            func depth(_ column: ArchiveColumn) -> Int {
                var depth = 0
                var current = column.property.entity
                while let superentity = current?.superentity { (depth, current) = (depth + 1, superentity) }
                return depth
            }
            let sorted = columns.indices.sorted { first, second in
                let (one, other) = (columns[first], columns[second])
                switch (one.relationship, other.relationship) {
                case (nil, nil): return (depth(one), files[first]) > (depth(other), files[second])
                case (nil, _?): return true
                case (_?, nil): return false
                case (let left?, let right?):
                    if left.isToMany != right.isToMany { return !left.isToMany }
                    return files[first] < files[second]
                }
            }
            written = sorted
        }

        /// Returns the index of a column by its name in the file.
        func index(of name: UnsafeRawBufferPointer, expected: Int) -> Int? {
            if expected < written.count, name.elementsEqual(names[written[expected]]) { return written[expected] }
            // Users also write names in the model's case.
            return indexes[Array(name)] ?? indexes[Array(String(decoding: name, as: UTF8.self).lowercased().utf8)]
        }
    }

    let entities: [Entity]
    private let byName: [[UInt8]: Entity]
    private let byEntity: [ObjectIdentifier: Entity]

    /// - Throws: Code 134060 for an attribute that cannot be stored.
    init(_ entities: [NSEntityDescription]) throws {
        let described = entities.filter { $0.name != nil }
        let files = Self.fileNames(described.map { $0.name ?? "" }) { $0.uppercased() }
        let names = Dictionary(zip(described.map(ObjectIdentifier.init), files), uniquingKeysWith: { first, _ in first })
        self.entities = try described.map { try Entity($0, names: names) }
        byName = Dictionary(self.entities.map { (Array($0.name.utf8), $0) }, uniquingKeysWith: { first, _ in first })
        byEntity = Dictionary(self.entities.map { (ObjectIdentifier($0.entity), $0) }, uniquingKeysWith: { first, _ in first })
    }

    subscript(name: UnsafeRawBufferPointer) -> Entity? {
        byName[Array(name)] ?? byName[Array(String(decoding: name, as: UTF8.self).uppercased().utf8)]
    }
    subscript(entity: NSEntityDescription) -> Entity? { byEntity[ObjectIdentifier(entity)] }

    /// Returns names in the case of the file, as far as they differ there.
    fileprivate static func fileNames(_ names: [String], _ convert: (String) -> String) -> [String] {
        let converted = names.map(convert)
        let counts = Dictionary(converted.map { ($0, 1) }, uniquingKeysWith: +)
        return zip(names, converted).map { counts[$1] == 1 ? $1 : $0 }
    }
}

extension ArchiveColumn {
    /// The type of an attribute in an XML store.
    var typeName: String {
        switch kind {
        case .integer(let range): range.upperBound == Int64(Int16.max) ? "int16" : range.upperBound == Int64(Int32.max) ? "int32" : "int64"
        case .boolean: "bool"
        case .double: "double"
        case .float: "float"
        case .date: "date"
        case .text, .uuid, .url: "string"
        case .data, .archive: "binary"
        case .decimal: "decimal"
        case .toOne, .toMany: ""
        }
    }

    /// Returns whether the type of an attribute in a file is the column's, or one whose values it can have.
    func accepts(_ type: UnsafeRawBufferPointer) -> Bool {
        let name = String(decoding: type, as: UTF8.self).lowercased()
        if name == typeName { return true }
        switch kind {
        case .integer, .boolean, .double, .float, .decimal, .date:
            return ["int16", "int32", "int64", "bool", "double", "float", "decimal", "date"].contains(name)
        case .uuid: return name == "uuid"
        case .url: return name == "uri" || name == "url"
        case .archive: return ["transformable", "transformed", "composite"].contains(name)
        case .text, .data, .toOne, .toMany: return false
        }
    }
}
