import CoreData
import Predicates
import TestSupport
import Testing

/// Names and values that would be SQL if anything put them into a statement.
@Suite("Hostile queries in SQLite") struct HostileQueryTests {
    private static let names = [
        "select", "a\"b", "a'; DROP TABLE ZX; --", "[x]", "`tick`", "emoji😀", "ż ó", "semi;colon", "per%cent", "que?stion", "col:on", "t0",
        "Z_PK2",
    ]

    private static func model() -> NSManagedObjectModel {
        let entity = NSEntityDescription(name: "order\"; DROP TABLE Z_METADATA; --")
        let other = NSEntityDescription(name: "group by 😀")
        let many = NSRelationshipDescription(name: "where'", destination: other, toMany: true)
        let one = NSRelationshipDescription(name: "from\"", destination: entity)
        many.inverse(to: one)
        let pairs = NSRelationshipDescription(name: "join;", destination: other, toMany: true)
        let back = NSRelationshipDescription(name: "having]", destination: entity, toMany: true)
        pairs.inverse(to: back)
        entity.properties =
            names.map { NSAttributeDescription(name: $0, type: .string) } + [
                NSAttributeDescription(name: "label", type: .integer64), many, pairs,
            ]
        other.properties = [
            NSAttributeDescription(name: "label", type: .integer64), NSAttributeDescription(name: "limit", type: .integer64), one, back,
        ]
        return NSManagedObjectModel(entities: [entity, other])
    }

    private static let texts =
        names + ["\u{0}", "a\u{0}b", "'", "''", "\"", "?", "?1", ":a", "$x", "%", "_", "\\", "\u{202E}", "\u{FEFF}a"]

    private func labels(_ stores: TwinStores, _ change: (NSFetchRequest<NSManagedObject>) -> Void) throws -> [Int] {
        let found = stores.labels { _ in
            let request = NSFetchRequest<NSManagedObject>(entityName: "order\"; DROP TABLE Z_METADATA; --")
            request.sortDescriptors = [NSSortDescriptor(key: "label", ascending: true)]
            change(request)
            return request
        }
        let labels = try found.sqlite.get()
        try expect(labels, equals: found.memory.get())
        return labels
    }

    private func stores() throws -> TwinStores {
        let stores = try TwinStores(Self.model)
        try stores.fill { context in
            for (index, value) in Self.texts.enumerated() {
                let object = context.insert("order\"; DROP TABLE Z_METADATA; --", ["label": index])
                for name in Self.names { object.setValue(value, forKey: name) }
                let other = context.insert("group by 😀", ["label": 1000 + index, "limit": index])
                other.setValue(object, forKey: "from\"")
                object.setValue(Set([other]), forKey: "join;")
            }
        }
        return stores
    }

    @Test("Names that are SQL name attributes") func namesOfAttributes() throws {
        let stores = try stores()
        for name in Self.names {
            try expect(labels(stores) { $0.predicate = NSPredicate(format: "%K == %@", name, Self.names[2]) }, equals: [2], "\(name)")
            let sorted = try labels(stores) {
                $0.sortDescriptors = [NSSortDescriptor(key: name, ascending: true), NSSortDescriptor(key: "label", ascending: true)]
            }
            expect(sorted.count, equals: Self.texts.count)
        }
        try expect(
            labels(stores) {
                $0.predicate = NSPredicate(tree: .compare(.keyPath(["where'", "limit"]), .equal, .constant(.int64(3)), modifier: .any))
            }, equals: [3])
        try expect(
            labels(stores) {
                $0.predicate = NSPredicate(tree: .compare(.keyPath(["join;", "limit"]), .equal, .constant(.int64(4)), modifier: .any))
            }, equals: [4])
    }

    @Test("Values that are SQL are values", arguments: 0..<texts.count) func valuesOfAttributes(_ index: Int) throws {
        let stores = try stores()
        let value = Self.texts[index]
        try expect(labels(stores) { $0.predicate = NSPredicate(format: "select == %@", value) }, equals: [index])
        try expect(labels(stores) { $0.predicate = NSPredicate(format: "select IN %@", [value]) }, equals: [index])
        #expect(try labels(stores) { $0.predicate = NSPredicate(format: "select CONTAINS[cd] %@", value) }.contains(index))
        #expect(
            try labels(stores) { $0.predicate = NSPredicate(format: "select BEGINSWITH %@ AND select ENDSWITH %@", value, value) }.contains(
                index))
        #expect(try labels(stores) { $0.predicate = NSPredicate(format: "select <= %@", value) }.contains(index))
    }

    @Test("Names of columns may be anything") func namesOfColumns() throws {
        let stores = try stores()
        let name = "a\"; DROP TABLE ZX; --"
        let column = NSExpressionDescription()
        column.name = name
        column.expression = NSExpression(format: "max:(label)")
        try stores.sqlite.performAndWait {
            let request = NSFetchRequest<NSDictionary>(entityName: "order\"; DROP TABLE Z_METADATA; --")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [column]
            let found = try stores.sqlite.fetch(request)
            expect(found.first?[name] as? Int, equals: Self.texts.count - 1)
        }
    }
}
