internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

/// The places of the objects in an XML file. The text between two objects belongs to the second one.
struct XMLStoreMap: Sendable {
    struct Span: Sendable {
        let number: Int64
        let offset: Int
        let length: Int
    }

    var header: XMLStoreHeader
    /// The objects in the order of the file; empty if they cannot be copied.
    var spans: [Span]
    /// The text after the last object.
    var tail: [UInt8]
    /// Whether the objects can be copied from the file.
    var isCopyable: Bool

    static let defaultTail = Array("\n</database>".utf8)
}

/// Reads the objects of an XML store into rows.
struct XMLStoreReader {
    typealias Failure = XMLStoreScanner.Failure

    private let store: XMLStore
    private let names: XMLStoreNames
    private var scanner: XMLStoreScanner
    private let rows: StoredRows
    private var writers: [ObjectIdentifier: PackedRowWriter] = [:]
    /// The IDs by number, both of objects that were read and of those that others refer to.
    private var ids: [Int64: NSManagedObjectID] = [:]
    private var isRead: Set<Int64> = []
    /// References to an entity with subentities, before the object was read: they are set when all have been.
    private var later: [(row: Row, relationship: NSRelationshipDescription, numbers: [Int64], offset: Int)] = []
    private var spans: [XMLStoreMap.Span] = []
    private var rawArchives: Set<ArchiveContents.RawArchive> = []
    private var seen: [Bool] = []

    init(_ store: XMLStore, _ names: XMLStoreNames, _ bytes: UnsafeRawBufferPointer, start: Int) {
        self.store = store
        self.names = names
        scanner = XMLStoreScanner(bytes, from: start)
        rows = StoredRows(for: store)
    }

    /// Reads the whole file.
    mutating func read(_ document: XMLStoreDocument) throws -> ArchiveContents {
        var header = try XMLStoreHeader.read(&scanner, start: 0)
        var end = header.length
        while true {
            guard let tag = try scanner.next() else { throw scanner.failure("“database” is not ended.") }
            if tag.isEnd {
                guard scanner.has(tag.name, "database") else { throw scanner.failure("“</database>” is expected here.", at: tag.start) }
                break
            }
            let number = try object(tag)
            spans.append(.init(number: number, offset: end, length: scanner.position - end))
            end = scanner.position
            header.lastNumber = max(header.lastNumber, number)
        }
        if let rest = try scanner.next() { throw scanner.failure("Nothing may follow “</database>”.", at: rest.start) }
        try finishReferences()
        let map = XMLStoreMap(
            header: header, spans: document.isConverted ? [] : spans, tail: Array(scanner.bytes[end...]), isCopyable: !document.isConverted)
        return ArchiveContents(
            rows: rows, metadata: ArchiveStore.comparable(header.metadata), lastNumber: header.lastNumber, map: map,
            rawArchives: rawArchives)
    }

    // MARK: Objects

    private mutating func object(_ tag: XMLStoreScanner.Tag) throws -> Int64 {
        guard scanner.has(tag.name, "object") else {
            throw scanner.failure("“<object>” is expected here, not “<\(scanner.string(tag.name))>”.", at: tag.start)
        }
        guard let type = scanner.value("type"), let identifier = scanner.value("id") else {
            throw scanner.failure("An object has a type and an id.", at: tag.start)
        }
        guard let entity = names[scanner.slice(type)] else {
            throw scanner.failure("The model has no entity “\(scanner.string(type))”.", at: type.lowerBound)
        }
        guard !entity.entity.isAbstract else {
            throw scanner.failure("“\(entity.entity)” is abstract and has no objects.", at: type.lowerBound)
        }
        guard let number = number(identifier) else {
            throw scanner.failure(
                "The id of an object is “z” and a number, not “\(scanner.string(identifier))”.", at: identifier.lowerBound)
        }
        guard isRead.insert(number).inserted else {
            throw scanner.failure("Another object has the id “z\(number)”.", at: identifier.lowerBound)
        }
        if let known = ids[number], known.owningEntity !== entity.entity {
            // Another object refers to it as an object of another entity.
            throw scanner.failure(
                "“z\(number)” is a “\(entity.entity)”, but referred to as a “\(known.owningEntity)”.", at: identifier.lowerBound)
        }
        let id = ids[number] ?? store.objectID(for: entity.entity, number: number)
        ids[number] = id
        let writer = writer(of: entity.entity)
        writer.begin()
        if seen.count < entity.columns.count { seen = Array(repeating: false, count: entity.columns.count) }
        for index in entity.columns.indices { seen[index] = false }
        var later: [(relationship: NSRelationshipDescription, numbers: [Int64], offset: Int)] = []
        do {
            if !tag.isEmpty { try properties(of: entity, number, tag, writer, &later) }
        } catch {
            writer.cancel()
            throw error
        }
        for index in entity.columns.indices where !seen[index] {
            switch entity.columns[index].kind {
            case .toMany: writer.set([], at: entity.columns[index].place)
            case .toOne: writer.set(nil, at: entity.columns[index].place)
            default: writer.setNil(entity.columns[index].place)
            }
        }
        let row = Row(writer.end(id, version: 1))
        for item in later { self.later.append((row, item.relationship, item.numbers, item.offset)) }
        try rows.load(row)
        return number
    }

    private mutating func writer(of entity: NSEntityDescription) -> PackedRowWriter {
        if let known = writers[ObjectIdentifier(entity)] { return known }
        let writer = PackedRowWriter(entity)
        writers[ObjectIdentifier(entity)] = writer
        return writer
    }

    private func number(_ range: Range<Int>) -> Int64? {
        guard range.count > 1, scanner.bytes[range.lowerBound] == 0x7A,
            let number = XMLStoreNumbers.integer(scanner.slice((range.lowerBound + 1)..<range.upperBound)), number > 0,
            number <= ArchiveContents.largestNumber
        else { return nil }
        return number
    }

    private mutating func properties(
        of entity: XMLStoreNames.Entity, _ number: Int64, _ tag: XMLStoreScanner.Tag, _ writer: PackedRowWriter,
        _ later: inout [(relationship: NSRelationshipDescription, numbers: [Int64], offset: Int)]
    ) throws {
        var expected = 0
        while true {
            guard let child = try scanner.next() else { throw scanner.failure("“object” is not ended.", at: tag.start) }
            if child.isEnd {
                guard scanner.has(child.name, "object") else { throw scanner.failure("“</object>” is expected here.", at: child.start) }
                return
            }
            let isAttribute = scanner.has(child.name, "attribute")
            guard isAttribute || scanner.has(child.name, "relationship") else {
                throw scanner.failure("An object has attributes and relationships, no “\(scanner.string(child.name))”.", at: child.start)
            }
            guard let name = scanner.value("name") else { throw scanner.failure("A property has a name.", at: child.start) }
            guard let index = index(of: name, in: entity, expected), (entity.columns[index].relationship == nil) == isAttribute else {
                throw scanner.failure(
                    "“\(entity.entity)” has no \(isAttribute ? "attribute" : "relationship") “\(scanner.string(name))”.",
                    at: name.lowerBound)
            }
            guard !seen[index] else { throw scanner.failure("“\(scanner.string(name))” is there twice.", at: name.lowerBound) }
            seen[index] = true
            expected += 1
            let column = entity.columns[index]
            if isAttribute {
                if let type = scanner.value("type"), !column.accepts(scanner.slice(type)) {
                    throw scanner.failure(
                        "“\(column.property)” is of the type “\(column.typeName)” in the model, not “\(scanner.string(type))”.",
                        at: type.lowerBound)
                }
                let start = scanner.position
                let text = try scanner.text(of: child)
                let isRaw = try XMLStoreValue.read(text, of: column, into: writer, scanner, at: start)
                if isRaw { rawArchives.insert(.init(number: number, slotIndex: column.property.slotIndex)) }
            } else {
                let references = scanner.value("idrefs")
                try self.references(references, column, writer, &later)
                let content = try scanner.text(of: child)
                if case .plain(let range) = content, scanner.slice(range).allSatisfy({ $0 <= 0x20 }) { continue }
                throw scanner.failure("A relationship has no text.", at: child.start)
            }
        }
    }

    private func index(of name: Range<Int>, in entity: XMLStoreNames.Entity, _ expected: Int) -> Int? {
        if let index = entity.index(of: scanner.slice(name), expected: expected) { return index }
        guard case .converted(let bytes)? = try? scanner.bytes(of: name) else { return nil }
        return bytes.withUnsafeBytes { entity.index(of: $0, expected: expected) }
    }

    // MARK: References

    private mutating func references(
        _ range: Range<Int>?, _ column: ArchiveColumn, _ writer: PackedRowWriter,
        _ later: inout [(relationship: NSRelationshipDescription, numbers: [Int64], offset: Int)]
    ) throws {
        let relationship = column.relationship.known("the column is a relationship's")
        var numbers: [Int64] = []
        if let range {
            var start = range.lowerBound
            while start < range.upperBound {
                if scanner.bytes[start] <= 0x20 {
                    start += 1
                    continue
                }
                var end = start
                while end < range.upperBound, scanner.bytes[end] > 0x20 { end += 1 }
                guard let number = number(start..<end) else {
                    throw scanner.failure("“\(scanner.string(start..<end))” refers to no object.", at: start)
                }
                numbers.append(number)
                start = end
            }
        }
        if numbers.count > 1, Set(numbers).count < numbers.count {
            // A set has each once, and so has a list of a relationship in an order.
            var seen: Set<Int64> = []
            numbers.removeAll { !seen.insert($0).inserted }
        }
        let offset = range?.lowerBound ?? scanner.position
        guard let destination = relationship.destinationEntity else { return }
        if column.kind.isToOne, numbers.count > 1 { throw scanner.failure("“\(relationship)” leads to one object.", at: offset) }
        var known: [NSManagedObjectID] = []
        known.reserveCapacity(numbers.count)
        for number in numbers {
            if let id = ids[number] {
                guard id.owningEntity === destination || id.owningEntity.isKindOf(entity: destination) else {
                    throw scanner.failure(
                        "“\(relationship)” leads to “\(destination)”, and “z\(number)” is a “\(id.owningEntity)”.", at: offset)
                }
                known.append(id)
            } else if destination.subentities.isEmpty {
                let id = store.objectID(for: destination, number: number)
                ids[number] = id
                known.append(id)
            } else {
                // Of which entity it is shows when it is read.
                later.append((relationship, numbers, offset))
                if column.kind.isToOne { writer.set(nil, at: column.place) } else { writer.set([], at: column.place) }
                return
            }
        }
        if column.kind.isToOne { writer.set(known.first, at: column.place) } else { writer.set(known, at: column.place) }
    }

    /// Sets the references that could not be set before. A reference to a missing object stays, as a delete rule without action leaves it: its object
    /// reads as deleted.
    private mutating func finishReferences() throws {
        for item in later {
            let destination = item.relationship.destinationEntity.known("it was read through it")
            let found = try item.numbers.map { number in
                guard let id = ids[number] else { return store.objectID(for: destination, number: number) }
                guard id.owningEntity.isKindOf(entity: destination) else {
                    throw scanner.failure(
                        "“\(item.relationship)” leads to “\(destination)”, and “z\(number)” is a “\(id.owningEntity)”.", at: item.offset)
                }
                return id
            }
            item.row.setRelatedIDs(found, of: item.relationship)
        }
    }
}
