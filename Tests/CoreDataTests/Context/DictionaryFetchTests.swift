import CoreData
import TestSupport
import Testing

@Suite("A dictionary fetch") struct DictionaryFetchTests {
    /// Three bands with albums of several years and ratings.
    private func withAlbums(_ body: (NSManagedObjectContext) throws -> Void) throws {
        try withMusic { context in
            let rows: [(String, [(String, Int16, Double?)])] = [
                ("Low", [("Double Negative", 2018, 9), ("HEY WHAT", 2021, 8), ("Ones and Sixes", 2015, nil)]),
                ("Grouper", [("Ruins", 2014, 7), ("Grid of Points", 2018, nil)]), ("Duster", [("Stratosphere", 1998, 9)]),
            ]
            for (name, albums) in rows {
                let band = Band(context: context)
                band.name = name
                for (title, year, rating) in albums {
                    let album = Album(context: context)
                    (album.title, album.year, album.rating, album.band) = (title, year, rating, band)
                }
            }
            try context.save()
            try body(context)
        }
    }

    private func request(_ properties: [Any], by groups: [Any]? = nil) -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>(entityName: "Album")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = properties
        request.propertiesToGroupBy = groups
        return request
    }

    private func column(_ name: String, _ format: String, _ type: NSAttributeType = .undefinedAttributeType) throws
        -> NSExpressionDescription
    {
        let description = NSExpressionDescription()
        description.name = name
        description.expression = try NSExpression(parsing: format)
        description.expressionResultType = type
        return description
    }

    /// The error of a fetch.
    private func reason(_ context: NSManagedObjectContext, _ request: NSFetchRequest<NSDictionary>) -> String? {
        failure { _ = try context.fetch(request) }?.localizedDescription
    }

    @Test("It gives attributes, to-one relationships as IDs, and paths over them; nil has no key")
    func plainColumns() throws {
        try withAlbums { context in
            let request = request(["title", "band", "band.name", "rating", "tracks.@count"])
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            request.fetchLimit = 2
            let rows = try context.fetch(request)
            let low = try #require(try context.all(Band.self, "name == 'Low'").first)
            expect(
                rows.first,
                equals: ["title": "Double Negative", "band": low.objectID, "band.name": "Low", "rating": 9.0, "tracks.@count": 0])
            #expect(
                rows.last == [
                    "title": "Grid of Points", "band": try #require(try context.all(Band.self, "name == 'Grouper'").first).objectID,
                    "band.name": "Grouper", "tracks.@count": 0,
                ])
        }
    }

    @Test("Functions without groups are taken over everything that matches; nil counts for nothing")
    func aggregates() throws {
        try withAlbums { context in
            let request = request([
                try column("n", "count:(title)"), try column("rated", "count:(rating)"), try column("sum", "sum:(rating)"),
                try column("first", "min:(year)"), try column("last", "max:(year)"), try column("mean", "average:(rating)"),
                try column("all", "@count"), try column("operator", "@sum.year"), try column("mix", "max:(year) - min:(year)"),
            ])
            try expect(
                context.fetch(request),
                equals: [
                    ["n": 6, "rated": 4, "sum": 33.0, "first": 1998, "last": 2021, "mean": 8.25, "all": 6, "operator": 12084, "mix": 23]
                ])
            request.predicate = NSPredicate(format: "year > 3000")
            try expect(context.fetch(request), equals: [["n": 0, "rated": 0, "sum": 0, "all": 0, "operator": 0]])
        }
    }

    @Test("The type of a column is that of its description")
    func resultTypes() throws {
        try withAlbums { context in
            let request = request([
                try column("whole", "average:(rating)", .integer64AttributeType), try column("exact", "sum:(year)", .decimalAttributeType),
                try column("text", "max:(year)", .stringAttributeType), try column("date", "min:(year)", .dateAttributeType),
            ])
            let row = try #require(try context.fetch(request).first)
            expect(row["whole"] as? Int, equals: 8)
            expect(row["exact"] as? Decimal, equals: 12084)
            expect(row["text"] as? String, equals: "2021")
            expect(row["date"] as? Date, equals: Date(timeIntervalSinceReferenceDate: 1998))
            let wrong = self.request([try column("title", "max:(title)", .integer64AttributeType)])
            expect(reason(context, wrong)?.contains("“title” cannot be given as its expressionResultType says"), equals: true)
        }
    }

    @Test("Groups, having, sort, offset and limit work as in SQL")
    func grouping() throws {
        try withAlbums { context in
            let request = request(
                ["band.name", try column("albums", "count:(title)"), try column("best", "max:(rating)")], by: ["band.name"])
            request.sortDescriptors = [NSSortDescriptor(key: "albums", ascending: false)]
            try expect(
                context.fetch(request),
                equals: [
                    ["band.name": "Low", "albums": 3, "best": 9.0], ["band.name": "Grouper", "albums": 2, "best": 7.0],
                    ["band.name": "Duster", "albums": 1, "best": 9.0],
                ])
            request.fetchOffset = 1
            request.fetchLimit = 1
            try expect(context.fetch(request).map { $0["band.name"] as? String }, equals: ["Grouper"])
            request.fetchOffset = 0
            request.fetchLimit = 0
            request.sortDescriptors = [NSSortDescriptor(key: "band.name", ascending: true)]
            for having in ["albums > 1", "$albums > 1", "count:(title) > 1", "albums > 1 AND band.name != 'Duster'"] {
                request.havingPredicate = NSPredicate(format: having)
                try expect(context.fetch(request).map { $0["band.name"] as? String }, equals: ["Grouper", "Low"], "\(having)")
            }
            try expect(context.count(for: request), equals: 2)
            request.predicate = NSPredicate(format: "year >= 2018")
            try expect(context.fetch(request).map { $0["band.name"] as? String }, equals: ["Low"])
        }
    }

    @Test("Groups of several values, and of objects")
    func severalKeys() throws {
        try withAlbums { context in
            let request = request(["year", try column("n", "count:(title)")], by: ["year"])
            request.havingPredicate = NSPredicate(format: "n > 1")
            try expect(context.fetch(request), equals: [["year": 2018, "n": 2]])
            let byBand = self.request(["band", "year", try column("n", "@count")], by: ["band", "year"])
            try expect(context.fetch(byBand).count, equals: 6)
        }
    }

    @Test("Distinct results appear once, in their order")
    func distinct() throws {
        try withAlbums { context in
            let request = request(["year"])
            request.returnsDistinctResults = true
            request.sortDescriptors = [NSSortDescriptor(key: "year", ascending: false)]
            let years = try context.fetch(request).map { $0["year"] as? Int }
            expect(years, equals: [2021, 2018, 2015, 2014, 1998])
            try expect(context.count(for: request), equals: 5)
        }
    }

    @Test("An error says what to do about options that contradict each other")
    func mistakes() throws {
        try withAlbums { context in
            expect(reason(context, request(["nonsense"]))?.contains("“Album” has no property “nonsense”"), equals: true)
            expect(reason(context, request(["tags.label"]))?.contains("to-many relationship “tags”"), equals: true)
            expect(reason(context, request(["title.name"]))?.contains("“title” in “title.name” is not a relationship"), equals: true)
            expect(reason(context, request([42]))?.contains("It holds 42"), equals: true)
            let ungrouped = request(["title", try column("n", "count:(title)")], by: ["year"])
            expect(reason(context, ungrouped)?.contains("“title” asks for title, which differs within a group"), equals: true)
            let wrongHaving = request(["year"], by: ["year"])
            wrongHaving.havingPredicate = NSPredicate(format: "title == 'x'")
            expect(reason(context, wrongHaving)?.contains("differs within a group"), equals: true)
            let having = request(["year"])
            having.havingPredicate = NSPredicate(format: "year == 1")
            expect(reason(context, having)?.contains("no groups"), equals: true)
            let objects = NSFetchRequest<Album>(entityName: "Album")
            objects.propertiesToGroupBy = ["year"]
            expect(failure { _ = try context.fetch(objects) }?.localizedDescription.contains("asks for no dictionaries"), equals: true)
        }
    }

    @Test("A fetch within a predicate is run first")
    func fetchExpression() throws {
        try withAlbums { context in
            let bands = NSFetchRequest<Band>(entityName: "Band")
            bands.predicate = NSPredicate(format: "ANY albums.year < 2000")
            let place = NSExpression(forConstantValue: context)
            let found = NSFetchRequestExpression.expression(
                forFetch: NSExpression(forConstantValue: bands), context: place, countOnly: false)
            let count = NSFetchRequestExpression.expression(
                forFetch: NSExpression(forConstantValue: bands), context: place, countOnly: true)
            let albums = NSFetchRequest<Album>(entityName: "Album")
            albums.predicate = NSComparisonPredicate(
                leftExpression: NSExpression(forKeyPath: "band"), rightExpression: found, modifier: .direct, type: .in, options: [])
            let titles = try context.fetch(albums).map(\.title)
            expect(titles, equals: ["Stratosphere"])
            albums.predicate = NSComparisonPredicate(
                leftExpression: NSExpression(forKeyPath: "band.albums.@count"), rightExpression: count, modifier: .direct, type: .equalTo,
                options: [])
            try expect(context.fetch(albums).map(\.title), equals: ["Stratosphere"])
        }
    }
}
