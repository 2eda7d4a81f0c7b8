package import CoreData
import Foundation
package import TestSupport

/// Tables that refer to each other at random, and saves to them: rows are inserted, changed, deleted, and exchange unique values. What the tables hold
/// after a save is what the objects of the context were before it.
package struct RandomTables: Sendable {
    private struct Reference: Sendable {
        let column: String
        let target: Int
        let isRequired: Bool
        let isUnique: Bool
        let action: String
        var name: String { String(column.dropLast(3)) }
    }
    private struct Table: Sendable {
        let name: String
        var references: [Reference] = []
        /// Whether the unique column `code` may be NULL.
        let mayLackCode: Bool
        var entity: String { name.capitalized }
    }
    private let tables: [Table]
    private let rows: [[String]]

    package init(using random: inout SeededGenerator) {
        let names = ["alpha", "beta", "gamma", "delta"].prefix(2 + random.below(3))
        var tables = names.map { Table(name: $0, mayLackCode: random.chance(0.5)) }
        for index in tables.indices {
            for number in 0..<random.below(4) {
                let target = random.below(tables.count)
                // A new row needs one that is there.
                let isRequired = target < index && random.chance(0.4)
                let actions =
                    isRequired
                    ? ["CASCADE", "NO ACTION", "RESTRICT"] : ["CASCADE", "CASCADE", "SET NULL", "SET NULL", "NO ACTION", "RESTRICT"]
                tables[index].references.append(
                    Reference(
                        column: "r\(number)_id", target: target, isRequired: isRequired, isUnique: !isRequired && random.chance(0.25),
                        action: actions[random.below(actions.count)]))
            }
        }
        let count = 3 + random.below(6)
        rows = tables.map { table in
            var statements = (1...count).map { id in
                let names = table.references.filter(\.isRequired).map { ", \($0.column)" }.joined()
                let values = table.references.filter(\.isRequired).map { _ in ", \(1 + random.below(count))" }.joined()
                return "INSERT INTO \(table.name) (id, code, list, place, mark\(names)) "
                    + "VALUES (\(id), \(id * 10), \(id % 2), \(id), \(id <= 2 ? 1 : 0)\(values))"
            }
            for reference in table.references where !reference.isRequired {
                for id in 1...count where random.chance(0.6) {
                    statements.append(
                        "UPDATE \(table.name) SET \(reference.column) = \(reference.isUnique ? id : 1 + random.below(count)) WHERE id = \(id)"
                    )
                }
            }
            return statements
        }
        self.tables = tables
    }

    // MARK: The tables

    /// Returns the statements that make and fill the tables.
    package func script(_ database: TableCase.Database) -> String {
        var statements: [String] = []
        var later: [String] = []
        for table in tables {
            let references = table.references.map { reference in
                let key = "REFERENCES \(tables[reference.target].name) (id) ON DELETE \(reference.action)"
                if database == .postgreSQL {
                    later.append("ALTER TABLE \(table.name) ADD FOREIGN KEY (\(reference.column)) \(key)")
                }
                return ", \(reference.column) INTEGER\(reference.isRequired ? " NOT NULL" : "")\(reference.isUnique ? " UNIQUE" : "")"
                    + (database == .sqlite ? " \(key)" : "")
            }
            statements.append(
                "CREATE TABLE \(table.name) (id INTEGER PRIMARY KEY, code INTEGER\(table.mayLackCode ? "" : " NOT NULL") UNIQUE, "
                    + "list INTEGER NOT NULL, place INTEGER NOT NULL, mark INTEGER NOT NULL\(references.joined()), UNIQUE (list, place))")
            statements.append("CREATE UNIQUE INDEX \(table.name)_mark ON \(table.name) (list) WHERE mark = 1")
        }
        // Rows may refer to others that are yet to be inserted.
        return (statements + rows.flatMap(\.self) + later).joined(separator: ";\n") + ";"
    }

    /// Queries for the rows of each table, as texts in the form of ``contents(of:)``.
    package var queries: [String] {
        tables.map { table in
            let columns = ["id", "code", "list", "place", "mark"] + table.references.map(\.column)
            let list = columns.map { "coalesce(CAST(\($0) AS text), '-')" }.joined(separator: " || '|' || ")
            return "SELECT \(list) FROM \(table.name) ORDER BY id"
        }
    }

    /// Returns the rows that the objects of a context should have.
    package func contents(of context: NSManagedObjectContext) throws -> [[String]] {
        try tables.map { table in
            try live(table, context).map { object in
                let values = ["id", "code", "list", "place", "mark"].map { (object.value(forKey: $0) as? Int).map(String.init) ?? "-" }
                let references = table.references.map { reference in
                    ((object.value(forKey: reference.name) as? NSManagedObject)?.value(forKey: "id") as? Int).map(String.init) ?? "-"
                }
                return (values + references).joined(separator: "|")
            }
        }
    }

    private func live(_ table: Table, _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let objects = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: table.entity)).filter { !$0.isDeleted }
        return objects.sorted { ($0.value(forKey: "id") as? Int ?? 0) < ($1.value(forKey: "id") as? Int ?? 0) }
    }

    // MARK: Changes

    /// Changes the objects of a context at random. Called on its queue.
    package func change(_ context: NSManagedObjectContext, using random: inout SeededGenerator) throws {
        var all = try tables.map { try live($0, context) }
        func pick<Element>(_ elements: [Element]) -> Element? { elements.isEmpty ? nil : elements[random.below(elements.count)] }
        // New objects, which have what is required.
        for (index, table) in tables.enumerated() {
            for _ in 0..<random.below(3) {
                let required = table.references.filter(\.isRequired)
                if required.contains(where: { all[$0.target].isEmpty }) { continue }
                func next(_ key: String) -> Int { max(all[index].compactMap { $0.value(forKey: key) as? Int }.max() ?? 0, 1000) + 1 }
                let object = context.make(
                    table.entity, ["id": next("id"), "code": next("code"), "list": 0, "place": next("place"), "mark": 0])
                for reference in required { object.setValue(pick(all[reference.target]), forKey: reference.name) }
                all[index].append(object)
            }
        }
        // References to other objects, and to none.
        for (index, table) in tables.enumerated() {
            for object in all[index] {
                for reference in table.references where random.chance(0.3) {
                    let target = reference.isRequired || random.chance(0.8) ? pick(all[reference.target]) : nil
                    if target != nil || !reference.isRequired { object.setValue(target, forKey: reference.name) }
                }
            }
        }
        for index in tables.indices {
            for object in all[index] where random.chance(0.25) && !object.isDeleted {
                delete(object, of: index, all)
                context.processPendingChanges()
            }
        }
        for (index, table) in tables.enumerated() { exchange(all[index].filter { !$0.isDeleted }, table, &random) }
    }

    /// Deletes an object and those that go with it; what forbids that refers to another object, or is deleted, too.
    private func delete(_ object: NSManagedObject, of index: Int, _ all: [[NSManagedObject]]) {
        var gone: [(table: Int, object: NSManagedObject)] = [(index, object)]
        var next = 0
        while next < gone.count {
            let (target, object) = gone[next]
            next += 1
            for (other, table) in tables.enumerated() {
                for reference in table.references where reference.target == target && reference.action != "SET NULL" {
                    for referring in all[other]
                    where !referring.isDeleted && referring.value(forKey: reference.name) as? NSManagedObject === object {
                        if reference.action == "CASCADE" || reference.isRequired {
                            if !gone.contains(where: { $0.object === referring }) { gone.append((other, referring)) }
                        } else {
                            referring.setValue(nil, forKey: reference.name)
                        }
                    }
                }
            }
        }
        for (_, object) in gone.reversed() { object.managedObjectContext?.delete(object) }
    }

    /// Gives objects the unique values of others, of deleted ones, and new ones.
    private func exchange(_ objects: [NSManagedObject], _ table: Table, _ random: inout SeededGenerator) {
        let part = objects.filter { _ in random.chance(0.5) }
        if random.chance(0.7) {
            let others = Set(objects.filter { !part.contains($0) }.compactMap { $0.value(forKey: "code") as? Int })
            var free = ((1...20).map { $0 * 10 } + part.compactMap { $0.value(forKey: "code") as? Int }).filter { !others.contains($0) }
            free = Array(Set(free)).sorted()
            for object in part {
                if table.mayLackCode, random.chance(0.2) {
                    object.setValue(nil, forKey: "code")
                } else {
                    object.setValue(free.remove(at: random.below(free.count)), forKey: "code")
                }
            }
        }
        switch random.below(3) {
        // Positions count on.
        case 0:
            for (place, object) in objects.enumerated() {
                object.setValue(0, forKey: "list")
                object.setValue(place + 1, forKey: "place")
            }
        case 1:
            let places = part.map { ($0.value(forKey: "list"), $0.value(forKey: "place")) }
            for (object, place) in zip(part, places.shuffled(using: &random)) {
                object.setValue(place.0, forKey: "list")
                object.setValue(place.1, forKey: "place")
            }
        default: break
        }
        var marked: Set<Int> = []
        for object in objects.shuffled(using: &random) {
            let list = object.value(forKey: "list") as? Int ?? 0
            let isMarked = random.chance(0.5) && marked.insert(list).inserted
            object.setValue(isMarked ? 1 : 0, forKey: "mark")
        }
    }
}
