#if PostgreSQL
internal import Foundation
internal import MappedTables

/// Reads the catalogue of a database.
struct CatalogueReader {
    let connection: Connection
    let schema: String

    /// Returns the tables and views of the schema; nil if there is no such schema.
    func read() async throws -> Catalogue? {
        let results = try await connection.run(
            [
                "SELECT 1 FROM pg_namespace WHERE nspname = $1", Self.relations, Self.columns, Self.labels, Self.uniques, Self.references,
                Self.uniqueRules, Self.partitionReferences,
            ].map { Call($0, [.verbatim(schema)]) })
        guard results[0].rowCount > 0 else { return nil }
        var relations: [Int64: CatalogueRelation] = [:]
        for row in 0..<results[1].rowCount {
            let kind: CatalogueRelation.Kind =
                switch results[1].verbatim(row, 2) {
                case "v": .view
                case "m": .materializedView
                case "f": .foreignTable
                default: .table
                }
            relations[results[1].integer(row, 0)] = CatalogueRelation(name: results[1].verbatim(row, 1), kind: kind)
        }
        let labels = Self.grouped(results[3]) { $0.text($1, 1) }
        for row in 0..<results[2].rowCount {
            relations[results[2].integer(row, 0)]?.columns.append(Self.column(results[2], row, labels))
        }
        for row in 0..<results[4].rowCount {
            let (table, columns) = (results[4].integer(row, 0), Self.names(results[4], row, 2))
            if results[4].integer(row, 1) != 0 {
                relations[table]?.primaryKey = columns
            } else {
                relations[table]?.uniques.append(columns)
            }
        }
        for row in 0..<results[5].rowCount {
            relations[results[5].integer(row, 0)]?.references.append(Self.reference(results[5], row))
        }
        for row in 0..<results[6].rowCount {
            let result = results[6]
            relations[result.integer(row, 0)]?.addUniqueRule(
                result.isNull(row, 1) ? [] : Self.names(result, row, 1), expressions: result.verbatim(row, 2),
                condition: result.isNull(row, 3) ? nil : result.verbatim(row, 3))
        }
        var notes: [String] = []
        for row in 0..<results[7].rowCount {
            let reference = Self.reference(results[7], row)
            guard let table = relations[results[7].integer(row, 0)]?.name else { continue }
            if results[7].integer(row, 7) != 0 {
                relations[results[7].integer(row, 0)]?.references.append(reference)
            } else {
                notes.append(
                    "The foreign key \(reference.name) of \(results[7].verbatim(row, 8)), a partition of \(table), to \(reference.target) "
                        + "is not that of every partition: its columns are attributes.")
            }
        }
        return Catalogue(schema: schema, relations: relations.values.sorted { $0.name < $1.name }, notes: notes)
    }

    private static func reference(_ result: QueryResult, _ row: Int) -> CatalogueReference {
        CatalogueReference(
            name: result.verbatim(row, 1), columns: names(result, row, 2), targetSchema: result.verbatim(row, 3),
            target: result.verbatim(row, 4), targetColumns: names(result, row, 5), onDelete: action(result.verbatim(row, 6)))
    }

    private static func column(_ result: QueryResult, _ row: Int, _ labels: [Int64: [String]]) -> CatalogueColumn {
        let source: CatalogueColumn.Source =
            switch (result.verbatim(row, 8), result.verbatim(row, 9)) {
            case (_, "s"): .expression
            case ("a", _): .identity(isStrict: true)
            case ("d", _): .identity(isStrict: false)
            default: .program(hasDefault: result.integer(row, 10) != 0)
            }
        return CatalogueColumn(
            name: result.verbatim(row, 1),
            type: CatalogueType(
                name: result.verbatim(row, 4), sql: result.verbatim(row, 5), declared: result.verbatim(row, 2),
                kind: result.verbatim(row, 6),
                element: result.isNull(row, 7) ? nil : result.verbatim(row, 7), labels: labels[result.integer(row, 3)] ?? [],
                isBuiltIn: result.verbatim(row, 12) == "pg_catalog", collation: result.isNull(row, 13) ? nil : result.verbatim(row, 13)),
            isRequired: result.integer(row, 11) != 0, source: source)
    }

    private static func grouped<Value>(_ result: QueryResult, _ value: (QueryResult, Int) -> Value) -> [Int64: [Value]] {
        var groups: [Int64: [Value]] = [:]
        for row in 0..<result.rowCount { groups[result.integer(row, 0), default: []].append(value(result, row)) }
        return groups
    }

    private static func action(_ code: String) -> CatalogueReference.DeleteAction {
        switch code {
        case "c": .cascade
        case "n", "d": .clear
        default: .refuse
        }
    }

    /// Returns the names in an array, which is written as JSON.
    private static func names(_ result: QueryResult, _ row: Int, _ column: Int) -> [String] {
        (try? JSONDecoder().decode([String].self, from: Data(result.verbatim(row, column).utf8))) ?? []
    }

    // MARK: Statements

    private static let inSchema = "n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition"

    /// The tables and views, except those that belong to an extension.
    private static let relations = """
        SELECT c.oid::bigint, c.relname::text, c.relkind::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE \(inSchema) AND NOT EXISTS (SELECT 1 FROM pg_depend d
            WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
        """

    /// Columns, each with the type below its domains.
    private static let columns = """
        WITH RECURSIVE base (oid, type, required) AS (
            SELECT oid, oid, false FROM pg_type WHERE typtype <> 'd'
            UNION ALL SELECT d.oid, b.type, d.typnotnull OR b.required FROM pg_type d JOIN base b ON b.oid = d.typbasetype WHERE d.typtype = 'd')
        SELECT c.oid::bigint, a.attname::text, format_type(a.atttypid, a.atttypmod), t.oid::bigint, t.typname::text,
            format('%I.%I', s.nspname, t.typname), t.typtype::text, 
            (SELECT format('%I.%I', x.nspname, e.typname) FROM pg_type e JOIN pg_namespace x ON x.oid = e.typnamespace
                WHERE e.oid = t.typelem AND t.typlen = -1), a.attidentity::text,
            a.attgenerated::text, a.atthasdef OR EXISTS (SELECT 1 FROM pg_type y WHERE y.oid = a.atttypid AND y.typdefault IS NOT NULL),
            a.attnotnull OR b.required, s.nspname::text,
            (SELECT format('%I.%I', x.nspname, l.collname) FROM pg_collation l JOIN pg_namespace x ON x.oid = l.collnamespace
                WHERE l.oid = a.attcollation AND NOT l.collisdeterministic)
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
        JOIN base b ON b.oid = a.atttypid JOIN pg_type t ON t.oid = b.type JOIN pg_namespace s ON s.oid = t.typnamespace
        WHERE \(inSchema) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.oid, a.attnum
        """

    private static let labels = """
        SELECT e.enumtypid::bigint, e.enumlabel::text FROM pg_enum e
        WHERE $1::text IS NOT NULL ORDER BY e.enumtypid, e.enumsortorder
        """

    private static func array(_ columns: String, of table: String) -> String {
        """
        (SELECT json_agg(a.attname ORDER BY u.place)::text FROM unnest(\(columns)) WITH ORDINALITY AS u (number, place)
            JOIN pg_attribute a ON a.attrelid = \(table) AND a.attnum = u.number)
        """
    }

    /// Primary keys, constraints and indexes that hold for all rows.
    private static let uniques = """
        SELECT i.indrelid::bigint, i.indisprimary, \(array("(i.indkey::int2[])[0:i.indnkeyatts - 1]", of: "i.indrelid"))
        FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE \(inSchema) AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL ORDER BY i.indexrelid
        """

    /// The rules that keep rows distinct: unique indexes, including partial ones and those of expressions, and exclusion constraints. The indexes of
    /// partitions belong to those of their table.
    private static let uniqueRules = """
        SELECT i.indrelid::bigint,
            (SELECT json_agg(a.attname ORDER BY u.place)::text
                FROM unnest((i.indkey::int2[])[0:i.indnkeyatts - 1]) WITH ORDINALITY AS u (number, place)
                JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = u.number),
            coalesce(pg_get_expr(i.indexprs, i.indrelid), ''), pg_get_expr(i.indpred, i.indrelid)
        FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE \(inSchema) AND (i.indisunique OR i.indisexclusion) AND i.indisvalid ORDER BY i.indexrelid
        """

    private static let references = """
        SELECT k.conrelid::bigint, k.conname::text, \(array("k.conkey", of: "k.conrelid")), s.nspname::text, t.relname::text,
            \(array("k.confkey", of: "k.confrelid")), k.confdeltype::text
        FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
        JOIN pg_class t ON t.oid = k.confrelid JOIN pg_namespace s ON s.oid = t.relnamespace
        WHERE \(inSchema) AND k.contype = 'f' AND k.conparentid = 0 ORDER BY k.conname
        """

    /// Foreign keys of partitions that their table has not, with whether all partitions have them, and one of these.
    private static let partitionReferences = """
        WITH leaves AS (
            SELECT c.oid AS root, p.relid::oid AS leaf, count(*) OVER (PARTITION BY c.oid) AS number
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace CROSS JOIN LATERAL pg_partition_tree(c.oid) p
            WHERE \(inSchema) AND c.relkind = 'p' AND p.isleaf),
        keys AS (
            SELECT l.root, l.leaf, l.number, k.conname, k.confrelid, k.confdeltype, \(array("k.conkey", of: "k.conrelid")) AS columns,
                \(array("k.confkey", of: "k.confrelid")) AS targets
            FROM leaves l JOIN pg_constraint k ON k.conrelid = l.leaf AND k.contype = 'f')
        SELECT k.root::bigint, min(k.conname::text), k.columns, s.nspname::text, t.relname::text, k.targets, k.confdeltype::text,
            count(DISTINCT k.leaf) = min(k.number), (array_agg(l.relname::text ORDER BY k.conname, l.relname))[1]
        FROM keys k JOIN pg_class l ON l.oid = k.leaf JOIN pg_class t ON t.oid = k.confrelid JOIN pg_namespace s ON s.oid = t.relnamespace
        WHERE NOT t.relispartition AND NOT EXISTS (
            SELECT 1 FROM pg_constraint r WHERE r.conrelid = k.root AND r.contype = 'f' AND r.confrelid = k.confrelid
                AND \(array("r.conkey", of: "r.conrelid")) = k.columns)
        GROUP BY k.root, k.columns, s.nspname, t.relname, k.targets, k.confdeltype ORDER BY 2
        """
}
#endif
