internal import Foundation
internal import ObjectGraph
internal import SQLQueries
internal import SQLiteStore

/// Checks every row of a SQLite store for violations of Core Data's expectations.
package struct StoreCheck {
    /// A violation by some rows.
    package struct Finding: Sendable {
        /// The kind of the violated rule.
        package let rule: String
        package let message: String
        /// The number of rows, and the first of them.
        package let count: Int
        package let objects: [String]
    }

    /// The maximum number of objects in a finding.
    private static let namedObjects = 5

    private let file: SQLiteInspection
    private let model: NSManagedObjectModel
    private let schema: SQLSchema
    private let url: URL
    private var findings: [Finding] = []

    /// - Throws: An error for a store that is not SQLite: others are checked when they are opened.
    package static func findings(in store: OpenStore) throws -> [Finding] {
        if !store.kind.hasFiles {
            throw CommandError.make(
                "A \(store.kind.rawValue) store cannot be checked.", reason: "Its rows are seen only through its answers.",
                next: "Export its objects with “coredata export”, import them into a .sqlite store, and check that.")
        }
        guard let file = store.file else { return [] }
        var check = try StoreCheck(
            file: file, model: store.model, schema: file.schema(of: store.model), url: store.url)
        try check.run()
        return check.findings
    }

    private init(file: SQLiteInspection, model: NSManagedObjectModel, schema: SQLSchema, url: URL) {
        (self.file, self.model, self.schema, self.url) = (file, model, schema, url)
    }

    private mutating func run() throws {
        let progress = Progress(totalUnitCount: Int64(schema.entities.count) + 3)
        try checkFile()
        try checkKeys()
        progress.completedUnitCount = 2
        for entity in schema.entities {
            for property in entity.entity.properties where property.entity === entity.entity || property.entity == nil {
                try Interruption.check()
                try check(property, of: entity)
            }
            try checkUniqueness(of: entity)
            progress.completedUnitCount += 1
        }
        try checkExternalFiles()
        progress.completedUnitCount += 1
    }

    /// Checks that each row of a SQLite store belongs to an object, before all objects are copied.
    ///
    /// - Throws: An error that names the tables whose rows would be left out.
    static func requireObjects(in store: OpenStore, _ what: String) throws {
        guard store.kind == .sqlite, let file = store.file else { return }
        let check = try StoreCheck(file: file, model: store.model, schema: file.schema(of: store.model), url: store.url)
        let found = try check.schema.tables.compactMap { table in try check.strays(table).flatMap { $0.rows.isEmpty ? nil : $0.message } }
        guard !found.isEmpty else { return }
        throw CommandError.make(
            what, reason: found.joined(separator: " "),
            next: "“coredata check” names the rows: give them the number of their entity, or delete them.")
    }

    // MARK: Reporting

    /// Reports the rows of an entity that match a condition over the alias `t`.
    private mutating func report(
        _ rule: String, _ entity: SQLEntity, _ condition: String, from: String? = nil, _ message: (String) -> String
    ) throws {
        let scope = entity.condition(includingSubentities: true, alias: "t").map { "(\($0)) AND " } ?? ""
        let source = from ?? "\(entity.table.sql) t"
        var (count, objects) = (0, [String]())
        try file.forEachRow("SELECT t.Z_PK, t.Z_ENT FROM \(source) WHERE \(scope)(\(condition))") { row in
            count += 1
            if objects.count < Self.namedObjects { objects.append(name(row[0], row[1], entity)) }
        }
        if count > 0 {
            findings.append(Finding(rule: rule, message: message(DisplayText.counted(count, "object")), count: count, objects: objects))
        }
    }

    private func name(_ key: SQLiteInspection.Cell, _ number: SQLiteInspection.Cell, _ entity: SQLEntity) -> String {
        var owner = entity.entity.name ?? ""
        if case .integer(let number) = number, let name = schema.entity(numbered: number)?.entity.name { owner = name }
        return if case .integer(let key) = key { "\(owner)/p\(key)" } else { owner }
    }

    private mutating func report(_ rule: String, _ message: String, _ count: Int = 1, _ objects: [String] = []) {
        findings.append(Finding(rule: rule, message: message, count: count, objects: Array(objects.prefix(Self.namedObjects))))
    }

    // MARK: The file

    private mutating func checkFile() throws {
        for row in try file.rows("PRAGMA integrity_check(20)") {
            if case .text(let text) = row[0], text != "ok" {
                report("file", "SQLite finds the file damaged: \(text)")
            }
        }
    }

    /// Returns the rows of a table whose entity does not belong to the table; nil for a table without an entity.
    private func strays(_ table: SQLTable) throws -> (rows: [[SQLiteInspection.Cell]], root: SQLEntity, message: String)? {
        guard let root = schema.entities.first(where: { $0.table == table.name && $0.number == $0.rootNumber }) else { return nil }
        let known = root.numbers.map(String.init).joined(separator: ", ")
        let rows = try file.rows("SELECT Z_PK, Z_ENT FROM \(table.name.sql) WHERE Z_ENT IS NULL OR Z_ENT NOT IN (\(known))")
        return (
            rows, root,
            "\(DisplayText.counted(rows.count, "row")) of \(table.name.name) have an entity (Z_ENT) that is none of the table's: Core Data does not find them."
        )
    }

    private mutating func checkKeys() throws {
        for table in schema.tables {
            guard let (strays, root, message) = try strays(table) else { continue }
            if !strays.isEmpty { report("entity", message, strays.count, strays.map { name($0[0], .null, root) }) }
            let last = try file.rows("SELECT MAX(Z_PK) FROM \(table.name.sql)").first?.first
            let assigned = try file.rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(root.rootNumber)").first?.first
            switch (last, assigned) {
            case (.integer(let last)?, .integer(let assigned)?) where assigned < last:
                report(
                    "keys",
                    "The last key of “\(root.entity)” is \(last), but Z_MAX is \(assigned): the next object saved takes the key of another."
                )
            case (_, .integer?): break
            default: report("keys", "Z_MAX of “\(root.entity)”, from which the keys of new objects are counted, is no integer.")
            }
        }
    }

    // MARK: Properties

    private mutating func check(_ property: NSPropertyDescription, of entity: SQLEntity) throws {
        switch entity[property] {
        case .attribute(let place):
            if let attribute = property as? NSAttributeDescription { try check(attribute, place, entity) }
        case .toOne(let place):
            if let relationship = property as? NSRelationshipDescription { try check(relationship, place, entity) }
        case .toMany(.join(let join)):
            if let relationship = property as? NSRelationshipDescription { try check(relationship, join, entity) }
        case .toMany(.foreignKey(let key)):
            if let relationship = property as? NSRelationshipDescription { try checkOrder(of: relationship, key) }
        case .unstored: break
        }
    }

    private mutating func check(_ attribute: NSAttributeDescription, _ place: SQLAttribute, _ entity: SQLEntity) throws {
        let name = "\(entity.entity).\(attribute.name)"
        let column = "t.\(place.column.sql)"
        if !attribute.isOptional, !(attribute is NSDerivedAttributeDescription) {
            try report("required", entity, "\(column) IS NULL") { "\($0) have no value of “\(name)”, which is required." }
        }
        let types: [String]
        switch place.storage {
        case .integer, .boolean: types = ["integer"]
        case .double, .date: types = ["integer", "real"]
        case .text, .uri: types = ["text"]
        case .data, .externalData, .uuid, .transformable, .composite: types = ["blob"]
        case .decimal: types = ["integer", "real", "text"]
        }
        let list = (types + ["null"]).map { "'\($0)'" }.joined(separator: ", ")
        try report("type", entity, "typeof(\(column)) NOT IN (\(list))") {
            "\($0) have a value of “\(name)” that is not \(types.joined(separator: " or "))."
        }
    }

    private mutating func check(_ relationship: NSRelationshipDescription, _ place: SQLToOne, _ entity: SQLEntity) throws {
        guard let description = relationship.destinationEntity, let destination = schema.entity(description) else { return }
        let name = "\(entity.entity).\(relationship.name)"
        let column = "t.\(place.column.sql)"
        if !relationship.isOptional {
            try report("required", entity, "\(column) IS NULL") { "\($0) have no object of “\(name)”, which is required." }
        }
        let kind = destination.condition(includingSubentities: true, alias: "d").map { " AND \($0)" } ?? ""
        try report(
            "dangling", entity,
            "\(column) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \(destination.table.sql) d WHERE d.Z_PK = \(column)\(kind))"
        ) { "\($0) have an object of “\(name)” that is not in the store, or of another entity." }
        if let number = place.entityColumn {
            try report(
                "dangling", entity,
                "\(column) IS NOT NULL AND EXISTS (SELECT 1 FROM \(destination.table.sql) d WHERE d.Z_PK = \(column) AND d.Z_ENT IS NOT t.\(number.sql))"
            ) { "\($0) name another entity than that of the object of “\(name)” (\(number.name))." }
        }
        // If both refer to each other, both references must agree.
        if let inverse = relationship.inverseRelationship, !inverse.isToMany, case .toOne(let back) = destination[inverse] {
            try report(
                "inverse", entity,
                "\(column) IS NOT NULL AND EXISTS (SELECT 1 FROM \(destination.table.sql) d WHERE d.Z_PK = \(column) AND d.\(back.column.sql) IS NOT t.Z_PK)"
            ) { "\($0) have an object of “\(name)” whose “\(inverse.name)” is another one." }
        }
    }

    /// Checks the positions of an ordered relationship whose keys are in the rows of its objects.
    private mutating func checkOrder(of relationship: NSRelationshipDescription, _ key: SQLForeignKey) throws {
        guard let order = key.orderColumn, let description = relationship.destinationEntity, let owned = schema.entity(description) else {
            return
        }
        let name = "\(relationship.entity?.name ?? "").\(relationship.name)"
        try report("order", owned, "t.\(key.column.sql) IS NOT NULL AND t.\(order.sql) IS NULL") {
            "\($0) have no place in “\(name)”, which is ordered."
        }
        try report(
            "order", owned,
            "EXISTS (SELECT 1 FROM \(key.table.sql) o WHERE o.\(key.column.sql) = t.\(key.column.sql) AND o.\(order.sql) = t.\(order.sql) AND o.Z_PK < t.Z_PK)"
        ) { "\($0) have the place of another in “\(name)”: their order is not known." }
    }

    private mutating func check(_ relationship: NSRelationshipDescription, _ join: SQLJoin, _ entity: SQLEntity) throws {
        guard let description = relationship.destinationEntity, let destination = schema.entity(description) else { return }
        // The check of the inverse covers the other column.
        let name = "\(entity.entity).\(relationship.name)"
        for (column, side) in [(join.own, entity), (join.other, destination)] {
            let rows = try file.rows(
                "SELECT j.\(join.own.sql), j.\(join.other.sql) FROM \(join.table.sql) j WHERE NOT EXISTS (SELECT 1 FROM \(side.table.sql) d WHERE d.Z_PK = j.\(column.sql))"
            )
            if rows.isEmpty
                || findings.contains(where: { $0.rule == "dangling" && $0.message.contains("“\(join.table.name)”.\(column.name)") })
            {
                continue
            }
            report(
                "dangling",
                "\(DisplayText.counted(rows.count, "pair")) of “\(name)” have an object that is not in the store (“\(join.table.name)”.\(column.name)).",
                rows.count, rows.map { "\(self.name($0[0], .null, entity)) – \(self.name($0[1], .null, destination))" })
        }
    }

    private mutating func checkUniqueness(of entity: SQLEntity) throws {
        for constraint in entity.entity.uniquenessConstraints {
            let names = constraint.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
            let columns = names.compactMap { name -> String? in
                switch entity.entity.propertiesByName[name].map({ entity[$0] }) {
                case .attribute(let place)?: place.column.sql
                case .toOne(let place)?: place.column.sql
                default: nil
                }
            }
            guard !columns.isEmpty, columns.count == names.count else { continue }
            let same = columns.map { "o.\($0) = t.\($0)" }.joined(separator: " AND ")
            let kind = entity.condition(includingSubentities: true, alias: "o").map { " AND \($0)" } ?? ""
            try report(
                "unique", entity, "EXISTS (SELECT 1 FROM \(entity.table.sql) o WHERE \(same) AND o.Z_PK < t.Z_PK\(kind))"
            ) { "\($0) of “\(entity.entity)” have the \(names.joined(separator: ", ")) of another, which must be unique." }
        }
    }

    // MARK: External files

    private mutating func checkExternalFiles() throws {
        let folder = url.deletingLastPathComponent().appendingPathComponent(".\(url.deletingPathExtension().lastPathComponent)_SUPPORT")
            .appendingPathComponent("_EXTERNAL_DATA")
        var orphans = Set(((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).filter { !$0.hasPrefix(".") })
        let there = orphans
        for entity in schema.entities {
            for case let attribute as NSAttributeDescription in entity.entity.properties where attribute.entity === entity.entity {
                guard case .attribute(let place) = entity[attribute], case .externalData = place.storage else { continue }
                var missing: [String] = []
                let sql = "SELECT Z_PK, Z_ENT, \(place.column.sql) FROM \(entity.table.sql) WHERE substr(\(place.column.sql), 1, 1) = x'02'"
                try file.forEachRow(sql) { row in
                    guard case .blob(let data) = row[2] else { return }
                    let name = String(decoding: data.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
                    if there.contains(name) { orphans.remove(name) } else { missing.append(self.name(row[0], row[1], entity)) }
                }
                if missing.isEmpty { continue }
                report(
                    "external",
                    "\(DisplayText.counted(missing.count, "object")) have a value of “\(entity.entity).\(attribute.name)” whose file is missing in \(folder.path).",
                    missing.count, missing)
            }
        }
        if !orphans.isEmpty {
            report(
                "external",
                "\(DisplayText.counted(orphans.count, "file")) in \(folder.path) belong to no object: NSSQLiteManualVacuumOption removes them.",
                orphans.count, orphans.sorted())
        }
    }
}

extension StoreCheck {
    /// Writes findings.
    package static func write(_ findings: [Finding], _ format: OutputFormat, to output: any Output) throws {
        if format == .json {
            let list = findings.map { finding in
                JSONValue.members([
                    "rule": .string(finding.rule), "message": .string(finding.message), "count": .count(finding.count),
                    "objects": .array(finding.objects.map(JSONValue.string)),
                ])
            }
            return try output.line(JSONValue.array(list).text())
        }
        for finding in findings {
            try output.line("\(finding.rule): \(DisplayText.lines(finding.message))")
            let rest = finding.count > finding.objects.count && !finding.objects.isEmpty ? ", …" : ""
            if !finding.objects.isEmpty { try output.line("    \(DisplayText.line(finding.objects.joined(separator: ", ")))\(rest)") }
        }
        try output.line(findings.isEmpty ? "Nothing is wrong." : DisplayText.counted(findings.count, "finding") + ".")
    }
}
