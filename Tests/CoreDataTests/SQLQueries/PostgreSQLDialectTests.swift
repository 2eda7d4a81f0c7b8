import CoreData
import Predicates
import TestSupport
import Testing

@_spi(Stores) @testable import ObjectGraph
@testable import SQLQueries

/// The statements of fetches in the dialect of a database that is not SQLite.
@Suite("A second dialect") struct PostgreSQLDialectTests {
    private let schema: SQLSchema
    private let plans: SQLQueryPlanCache

    init() throws {
        let model = Self.model()
        try model.freeze()
        schema = SQLSchema.readable(model)
        plans = SQLQueryPlanCache(schema: schema, dialect: PostgreSQLDialect(), token: StoreToken(identifier: "PostgreSQL")) { entity in
            entity.properties.compactMap {
                switch $0 {
                case .attribute(let attribute): attribute.column
                case .toOne(let relation): relation.column
                case .toMany, .unstored: nil
                }
            }
        }
    }

    /// Artists with albums, some of which are live albums; albums have tags.
    private static func model() -> NSManagedObjectModel {
        let (artist, album, live, tag) = (
            NSEntityDescription(name: "Artist"), NSEntityDescription(name: "Album"), NSEntityDescription(name: "Live"),
            NSEntityDescription(name: "Tag")
        )
        let albumArtist = NSRelationshipDescription(name: "artist", destination: artist)
        let artistAlbums = NSRelationshipDescription(name: "albums", destination: album, toMany: true)
        albumArtist.inverse(to: artistAlbums)
        let albumTags = NSRelationshipDescription(name: "tags", destination: tag, toMany: true)
        let tagAlbums = NSRelationshipDescription(name: "works", destination: album, toMany: true)
        albumTags.inverse(to: tagAlbums)
        artist.properties = [
            NSAttributeDescription(name: "name", type: .string), NSAttributeDescription(name: "rank", type: .integer32),
            NSAttributeDescription(name: "active", type: .boolean), NSAttributeDescription(name: "born", type: .date),
            NSAttributeDescription(name: "fee", type: .decimal), artistAlbums,
        ]
        album.properties = [
            NSAttributeDescription(name: "title", type: .string), NSAttributeDescription(name: "year", type: .integer16),
            NSAttributeDescription(name: "price", type: .decimal), albumArtist, albumTags,
        ]
        live.properties = [NSAttributeDescription(name: "place", type: .string)]
        album.subentities = [live]
        tag.properties = [NSAttributeDescription(name: "word", type: .string), tagAlbums]
        return NSManagedObjectModel(entities: [artist, album, live, tag])
    }

    private func query(
        _ name: String, _ format: String?, _ arguments: [Any] = [], _ change: (NSFetchRequest<any NSFetchRequestResult>) -> Void = { _ in }
    ) throws -> SQLQuery {
        let entity = try #require(schema.model.entitiesByName[name])
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: name)
        request.entity = entity
        request.resultType = .managedObjectIDResultType
        request.predicate = format.map { NSPredicate(format: $0, argumentArray: arguments) }
        change(request)
        return try plans.query(StoreQuery(request, of: entity), #require(schema.entity(entity)))
    }

    @Test(
        "A predicate is written in the dialect",
        arguments: [
            ("TRUEPREDICATE", "(TRUE)"),
            ("name == 'Can'", #"(t0."name" = $1)"#),
            ("rank > 3 AND NOT (fee <= 2.5)", #"((t0."rank" > $1 AND NOT (t0."fee" <= $2)))"#),
            ("active == YES OR born == nil", #"((CAST(t0."active" AS integer) = $1 OR t0."born" IS NULL))"#),
            ("name < 'm'", #"(t0."name" COLLATE "C" < $1 COLLATE "C")"#),
            ("rank BETWEEN {1, 5}", #"((t0."rank" >= $1 AND t0."rank" <= $2))"#),
            ("name LIKE 'c*n'", #"(t0."name" LIKE $1)"#),
            ("name BEGINSWITH[c] 'ca'", #"(t0."name" ILIKE $1)"#),
            ("name ==[c] 'can'", #"(lower(t0."name") = lower($1))"#),
            ("name IN {'a', 'b'} AND rank IN {1, 2}", #"((t0."name" = ANY($1) AND t0."rank" = ANY($2)))"#),
            (
                "name IN albums.title",
                #"(normalize(t0."name") IN (SELECT normalize(t1."title") FROM "album" t1 WHERE t1."artist_id" = t0."id"))"#
            ),
            (
                "now() - born > 60 AND born + 60 < now()",
                #"((extract(epoch FROM ($1 - t0."born")) > $2 AND (t0."born" + make_interval(secs => $3)) < $4))"#
            ),
            ("albums.@count == 0", #"(NOT EXISTS (SELECT 1 FROM "album" t1 WHERE t1."artist_id" = t0."id"))"#),
            (
                "ALL albums.year > 1970",
                #"(NOT EXISTS (SELECT 1 FROM "album" t1 WHERE t1."artist_id" = t0."id" AND (t1."year" > $1) IS NOT TRUE))"#
            ),
            (
                "albums.@sum.price > fee",
                #"((SELECT COALESCE(SUM(t1."price"), 0) FROM "album" t1 WHERE t1."artist_id" = t0."id") > t0."fee")"#
            ),
            (
                "ANY albums.tags.word == 'loud'",
                #"(EXISTS (SELECT 1 FROM "album" t1 CROSS JOIN "tags_works" t2 LEFT JOIN "tag" t3 ON t3."id" = t2."tags_id" "#
                    + #"WHERE t1."artist_id" = t0."id" AND t2."works_id" = t1."id" AND (t3."word" = $1)))"#
            ),
            (
                "SUBQUERY(albums, $x, $x.title == name AND $x.year > 1970).@count > 2",
                #"((SELECT COUNT(*) FROM "album" t1 WHERE t1."artist_id" = t0."id" AND "#
                    + #"((normalize(t1."title") = normalize(t0."name") AND t1."year" > $1))) > $2)"#
            ),
        ]) func predicates(_ format: String, _ condition: String) throws
    {
        let sql = try query("Artist", format).plan.sql
        expect(sql, equals: #"SELECT t0."id", t0."kind" FROM "artist" t0 WHERE "# + condition)
    }

    @Test("Objects are joined, sorted with nil first, and limited") func sorted() throws {
        let sql = try query("Album", "artist.name == 'Can'") {
            $0.sortDescriptors = [
                NSSortDescriptor(key: "artist.name", ascending: true), NSSortDescriptor(key: "price", ascending: false),
            ]
            $0.fetchLimit = 5
        }.plan.sql
        expect(
            sql,
            equals: #"SELECT t0."id", t0."kind" FROM "album" t0 LEFT JOIN "artist" t1 ON t1."id" = t0."artist_id" WHERE (t1."name" = $1) "#
                + #"ORDER BY t1."name" COLLATE "C" ASC NULLS FIRST, t0."price" DESC NULLS LAST, t0."id" DESC LIMIT $2 OFFSET $3"#)
    }

    @Test("The rows of an entity in a shared table are fetched with its columns") func rows() throws {
        let sql = try query("Live", nil) { $0.resultType = .managedObjectResultType }.plan.sql
        expect(
            sql,
            equals: #"SELECT t0."id", t0."kind", t0."version", t0."price", t0."title", t0."year", t0."artist_id", t0."place" "#
                + #"FROM "album" t0 WHERE t0."kind" = $1 ORDER BY t0."id""#)
    }

    @Test("Rows are counted, within a limit too") func counts() throws {
        try expect(query("Artist", nil) { $0.resultType = .countResultType }.plan.sql, equals: #"SELECT COUNT(*) FROM "artist" t0"#)
        let limited = try query("Artist", "rank == 1") {
            $0.resultType = .countResultType
            $0.fetchOffset = 2
        }
        expect(
            limited.plan.sql,
            equals: #"SELECT COUNT(*) FROM (SELECT 1 FROM "artist" t0 WHERE (t0."rank" = $1) LIMIT $2 OFFSET $3) AS found"#)
        let values = try limited.plan.bindings.map(limited.values.value(of:))
        expect("\(values)", equals: "\([SQLValue.integer(1), .unlimited, .integer(2)])")
    }

    @Test("Groups are aggregated by the database's functions") func groups() throws {
        let sql = try query("Album", nil) {
            $0.resultType = .dictionaryResultType
            let (highest, mean) = (NSExpressionDescription(), NSExpressionDescription())
            highest.name = "last"
            highest.expression = NSExpression(format: "max:(title)")
            mean.name = "mean"
            mean.expression = NSExpression(format: "average:(price)")
            $0.propertiesToFetch = ["year", highest, mean]
            $0.propertiesToGroupBy = ["year"]
            $0.havingPredicate = NSPredicate(format: "mean > 10")
        }.plan.sql
        expect(
            sql,
            equals: #"SELECT t0."year", MAX(t0."title" COLLATE "C"), AVG(t0."price") FROM "album" t0 GROUP BY t0."year" "#
                + #"HAVING AVG(t0."price") > $1"#)
    }

    @Test(
        "Patterns are bound as those of SQL's LIKE",
        arguments: [
            ("name LIKE 'c*n?'", "c%n_"), ("name LIKE '50%*'", #"50\%%"#), ("name CONTAINS 'a_b'", #"%a\_b%"#),
            ("name BEGINSWITH 'a*'", "a*%"), ("name ENDSWITH[c] 'z'", "%z"),
        ]) func patterns(_ format: String, _ pattern: String) throws
    {
        let query = try query("Artist", format)
        guard case .text(let bound) = try query.values.value(of: query.plan.bindings[0]) else { throw CocoaError(.coreData) }
        expect(bound, equals: pattern)
    }

    @Test(
        "An operation that the database lacks is an error that names the clause and the database",
        arguments: [
            "name MATCHES 'a.*'", "name CONTAINS[d] 'a'", "mode:(albums.year) == 1970", "random() > 5",
        ]) func refusals(_ format: String) throws
    {
        let error = try #require(failure { _ = try query("Artist", "rank == 1 AND \(format)") })
        #expect(SQLQueryError.isUntranslatable(error))
        #expect("\(error)".contains("The PostgreSQL store cannot answer the fetch") && !"\(error)".contains("rank"))
    }

    @Test("No name leaves its quotes, and parameters are numbered past question marks in names") func hostileNames() throws {
        let entity = NSEntityDescription(name: "a\"?; DROP TABLE \"b")
        entity.properties = [NSAttributeDescription(name: "is?\"it", type: .integer64)]
        let model = NSManagedObjectModel(entities: [entity])
        try model.freeze()
        let schema = SQLSchema.readable(model)
        let plans = SQLQueryPlanCache(schema: schema, dialect: PostgreSQLDialect(), token: StoreToken(identifier: "PostgreSQL")) { _ in [] }
        let path = NSExpression(forKeyPath: "is?\"it")
        let request = StoreQuery(entity).with(
            predicate: NSCompoundPredicate(andPredicateWithSubpredicates: [
                NSComparisonPredicate(
                    leftExpression: path, rightExpression: NSExpression(forConstantValue: 1), modifier: .direct, type: .greaterThan),
                NSComparisonPredicate(
                    leftExpression: path, rightExpression: NSExpression(forConstantValue: 5), modifier: .direct, type: .lessThan),
            ]))
        let sql = try plans.query(request, #require(schema.entity(entity))).plan.sql
        expect(
            sql,
            equals: #"SELECT t0."id", t0."kind", t0."version" FROM "a""?; drop table ""b" t0 "#
                + #"WHERE ((t0."is?""it" > $1 AND t0."is?""it" < $2))"#)
    }
}
