import CoreData
import FileStores
import TestSupport
import Testing

@Suite("Keys consist of several columns") struct CompositeKeyTests {
    /// Orders, whose key is a region and a number, and their lines, whose key is that of the order and a place.
    static func model() -> NSManagedObjectModel {
        let order = NSEntityDescription(name: "Order")
        let line = NSEntityDescription(name: "Line")
        let inOrder = NSRelationshipDescription(name: "order", destination: order)
        let lines = NSRelationshipDescription(name: "lines", destination: line, toMany: true)
        lines.deleteRule = .cascadeDeleteRule
        inOrder.inverse(to: lines)
        let replaced = NSRelationshipDescription(name: "replaces", destination: line)
        order.properties = [
            NSAttributeDescription(name: "region", type: .string), NSAttributeDescription(name: "number", type: .integer64),
            NSAttributeDescription(name: "customer", type: .string), lines,
        ]
        line.properties = [
            NSAttributeDescription(name: "place", type: .integer64), NSAttributeDescription(name: "item", type: .string), inOrder, replaced,
        ]
        return NSManagedObjectModel(entities: [order, line])
    }

    static var layout: FileLayout {
        var layout = FileLayout()
        layout["Order"].keys = ["region", "number"]
        layout["Line"].keys = ["region", "order", "place"]
        layout["Line"].referenceColumns = ["order": ["region", "order"], "replaces": ["oldRegion", "oldOrder", "oldPlace"]]
        return layout
    }

    private static let orders = "region,number,customer\nde,1,Varga\nfr,1,Quirke\na/b%,2,Ames\n"
    private static let lines =
        "item,region,order,place,oldRegion,oldOrder,oldPlace\nInk,de,1,1,,,\n\"Salt\",de,1,2,fr,1,1\nDust,fr,1,1,,,\nRope,a/b%,2,1,,,\n"

    private func files(_ kind: String, _ scratch: Scratch) throws -> NSPersistentStoreDescription {
        if kind == "csv" {
            try scratch.write(Self.orders, "Order.csv")
            try scratch.write(Self.lines, "Line.csv")
            return CSVStore.description(at: scratch.folder, layout: Self.layout)
        }
        try scratch.write(
            """
            {
              "Line": [
                {"item": "Ink", "region": "de", "order": 1, "place": 1},
                {"item": "Salt", "region": "de", "order": 1, "place": 2, "oldRegion": "fr", "oldOrder": 1, "oldPlace": 1},
                {"item": "Dust", "region": "fr", "order": 1, "place": 1},
                {"item": "Rope", "region": "a/b%", "order": 2, "place": 1}
              ],
              "Order": [
                {"region": "de", "number": 1, "customer": "Varga"},
                {"region": "fr", "number": 1, "customer": "Quirke"},
                {"region": "a/b%", "number": 2, "customer": "Ames"}
              ]
            }
            """, "Shop.json")
        return JSONStore.description(at: scratch.url("Shop.json"), layout: Self.layout)
    }

    private func items(_ order: NSManagedObject?) -> Set<String?> {
        Set((order?.value(forKey: "lines") as? Set<NSManagedObject> ?? []).map { $0.value(forKey: "item") as? String })
    }

    @Test("References of several columns lead to records, and URIs find them in another process", arguments: ["csv", "json"])
    func read(_ kind: String) throws {
        let scratch = try Scratch()
        let description = try files(kind, scratch)
        let context = try open(description, Self.model())
        expect(items(try context.all("Order", "region == 'de'").first), equals: ["Ink", "Salt"])
        expect(items(try context.all("Order", "region == 'a/b%'").first), equals: ["Rope"])
        let salt = try #require(try context.all("Line", "item == 'Salt'").first)
        expect((salt.value(forKey: "replaces") as? NSManagedObject)?.value(forKey: "item") as? String, equals: "Dust")
        try expect(context.all("Line", "order.customer == 'Quirke'").count, equals: 1)
        for order in try context.all("Order") {
            let again = try open(description, Self.model())
            let id = try #require(
                again.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: order.objectID.uriRepresentation()))
            try expect(
                again.existingObject(with: id).value(forKey: "customer") as? String, equals: order.value(forKey: "customer") as? String)
        }
    }

    @Test("A save writes the columns of changed references, and no other byte")
    func written() throws {
        let scratch = try Scratch()
        let context = try open(try files("csv", scratch), Self.model())
        let ink = try #require(try context.all("Line", "item == 'Ink'").first)
        let rope = try #require(try context.all("Line", "item == 'Rope'").first)
        let salt = try #require(try context.all("Line", "item == 'Salt'").first)
        ink.setValue(rope, forKey: "replaces")
        salt.setValue(nil, forKey: "replaces")
        // A key that consists of that of another new object.
        let order = context.insert("Order", ["region": "it", "number": 5])
        context.insert("Line", ["item": "New", "place": 1, "order": order])
        try context.save()
        try expect(scratch.text("Order.csv"), equals: Self.orders + "it,5,\n")
        try expect(
            scratch.text("Line.csv"),
            equals: Self.lines.replacingOccurrences(of: "Ink,de,1,1,,,", with: "Ink,de,1,1,a/b%,2,1").replacingOccurrences(
                of: "\"Salt\",de,1,2,fr,1,1", with: "\"Salt\",de,1,2,,,") + "New,it,5,1,,,\n")
        context.delete(try #require(try context.all("Order", "region == 'de'").first))
        try context.save()
        try expect(scratch.text("Line.csv").split(separator: "\n").count, equals: 4)
        try expect(scratch.text("Order.csv"), equals: "region,number,customer\nfr,1,Quirke\na/b%,2,Ames\nit,5,\n")
    }

    @Test("In JSON, keys and references are several members")
    func json() throws {
        let scratch = try Scratch()
        let context = try open(try files("json", scratch), Self.model())
        let before = try scratch.text("Shop.json")
        let dust = try #require(try context.all("Line", "item == 'Dust'").first)
        let rope = try #require(try context.all("Line", "item == 'Rope'").first)
        dust.setValue(rope, forKey: "replaces")
        let order = context.insert("Order", ["region": "it", "number": 5])
        context.insert("Line", ["item": "New", "place": 1, "order": order])
        try context.save()
        let after = before.replacingOccurrences(
            of: "\"item\": \"Dust\", \"region\": \"fr\", \"order\": 1, \"place\": 1",
            with:
                "\"item\": \"Dust\", \"region\": \"fr\", \"order\": 1, \"place\": 1, \"oldRegion\": \"a/b%\", \"oldOrder\": 2, \"oldPlace\": 1"
        )
        let text = try scratch.text("Shop.json")
        #expect(text.hasPrefix(after.prefix(upTo: after.range(of: "\"item\": \"Rope\"")?.lowerBound ?? after.endIndex)))
        let again = try open(JSONStore.description(at: scratch.url("Shop.json"), layout: Self.layout), Self.model())
        expect(items(try again.all("Order", "region == 'it'").first), equals: ["New"])
    }

    @Test("What others changed meanwhile stays, and a reference in one column has the parts of the key between slashes")
    func shared() throws {
        let scratch = try Scratch()
        try scratch.write(Self.orders, "Order.csv")
        try scratch.write("region,place,order,item\nx,1,de/1,Ink\nx,2,a%2Fb%25/2,Rope\n", "Line.csv")
        var layout = Self.layout
        layout["Line"] = EntityLayout()
        layout["Line"].keys = ["region", "place"]
        let line = NSEntityDescription(name: "Line")
        let order = NSEntityDescription(name: "Order")
        let inOrder = NSRelationshipDescription(name: "order", destination: order)
        line.properties = [
            NSAttributeDescription(name: "region", type: .string), NSAttributeDescription(name: "place", type: .integer64),
            NSAttributeDescription(name: "item", type: .string), inOrder,
        ]
        order.properties = [NSAttributeDescription(name: "customer", type: .string)]
        let context = try open(CSVStore.description(at: scratch.folder, layout: layout), NSManagedObjectModel(entities: [line, order]))
        let lines = try context.all("Line", by: "item")
        expect((lines[1].value(forKey: "order") as? NSManagedObject)?.value(forKey: "customer") as? String, equals: "Ames")
        try scratch.write("region,place,order,item,by\nx,2,a%2Fb%25/2,Rope,they\nx,3,fr/1,Theirs,they\nx,1,de/1,Ink,they\n", "Line.csv")
        lines[0].setValue(lines[1].value(forKey: "order"), forKey: "order")
        try context.save()
        try expect(
            scratch.text("Line.csv"),
            equals: "region,place,order,item,by\nx,2,a%2Fb%25/2,Rope,they\nx,3,fr/1,Theirs,they\nx,1,a%2Fb%25/2,Ink,they\n")
    }

    @Test("A key cannot change by a reference, be given twice, or lack a part")
    func keys() throws {
        let scratch = try Scratch()
        let context = try open(try files("csv", scratch), Self.model())
        let (ink, other) = (
            try #require(try context.all("Line", "item == 'Ink'").first), try #require(try context.all("Order", "region == 'fr'").first)
        )
        ink.setValue(other, forKey: "order")
        var failure = #expect(throws: NSError.self) { try context.save() }
        expect(failure?.localizedDescription.contains("“Line.order”"), equals: true)
        context.rollback()
        context.insert("Order", ["region": "de", "number": 1])
        failure = #expect(throws: NSError.self) { try context.save() }
        expect(failure?.localizedDescription.contains("de/1"), equals: true)
        context.rollback()
        context.insert("Order", ["region": "de"])
        failure = #expect(throws: NSError.self) { try context.save() }
        #expect(failure?.localizedFailureReason?.contains("“number”") == true || failure?.localizedDescription.contains("“number”") == true)
        try expect(scratch.text("Line.csv"), equals: Self.lines)
    }

    @Test("Properties that have a column in common must agree about it")
    func disagreeing() throws {
        let scratch = try Scratch()
        let model = Self.model()
        let line = try #require(model.entitiesByName["Line"])
        line.properties.append(NSAttributeDescription(name: "region", type: .string))
        try scratch.write(Self.orders, "Order.csv")
        try scratch.write("id,item,place,region,order,oldRegion,oldOrder,oldPlace\n", "Line.csv")
        var layout = Self.layout
        layout["Line"].keys = []
        layout["Line"].referenceColumns["replaces"] = nil
        layout["Line"].columns["replaces"] = "oldPlace"
        let context = try open(CSVStore.description(at: scratch.folder, layout: layout), model)
        let order = try #require(try context.all("Order", "region == 'fr'").first)
        let new = context.insert("Line", ["item": "x", "region": "de", "order": order])
        let failure = #expect(throws: NSError.self) { try context.save() }
        #expect(failure?.localizedFailureReason?.contains("“region”") == true || failure?.localizedDescription.contains("“region”") == true)
        new.setValue(nil, forKey: "region")
        try context.save()
        expect(new.value(forKey: "region") as? String, equals: "fr")
        let key = new.objectID.uriRepresentation().lastPathComponent.dropFirst()
        try expect(
            scratch.text("Line.csv"), equals: "id,item,place,region,order,oldRegion,oldOrder,oldPlace\n\(key),x,,fr,1,,,\n")
    }

    @Test("Mistakes are named by line and column")
    func mistakes() throws {
        for (lines, line, column, expected) in [
            ("region,order,place,item,oldRegion,oldOrder,oldPlace\nde,1,1,a,,,\nde,1,1,b,,,\n", 3, 1, "line 2 has “de/1/1”"),
            ("region,order,place,item,oldRegion,oldOrder,oldPlace\nde,,1,a,,,\n", 2, 1, "a key in “region/order/place”"),
            ("region,order,item,oldRegion,oldOrder,oldPlace\n", 1, 1, "a column “place”"),
            ("region,order,place,item,oldRegion,oldOrder,oldPlace\nxx,1,1,a,,,\n", 2, 1, "found “xx/1”"),
        ] {
            let scratch = try Scratch()
            try scratch.write(Self.orders, "Order.csv")
            try scratch.write(lines, "Line.csv")
            var layout = Self.layout
            layout.checksReferences = true
            let failure = #expect(throws: NSError.self) {
                _ = try open(CSVStore.description(at: scratch.folder, layout: layout), Self.model())
            }
            let text = failure?.localizedDescription ?? ""
            #expect(text.contains(expected), "\(text)")
            #expect(
                failure?.userInfo[FileStoreLineErrorKey] as? Int == line && failure?.userInfo[FileStoreColumnErrorKey] as? Int == column)
        }
    }

    @Test("A drafted model has the key of a file whose columns are the keys of others")
    func drafted() throws {
        let scratch = try Scratch()
        try scratch.write("id,name\n1,Ada\n2,Bo\n", "student.csv")
        try scratch.write("id,title\n7,Logic\n8,Law\n", "course.csv")
        try scratch.write("student_id,course_id,grade\n1,8,2\n1,7,3\n", "enrolment.csv")
        let context = try open(CSVStore.description(at: scratch.folder), try NSManagedObjectModel(describingCSV: scratch.folder))
        let ada = try #require(try context.all("Student", "name == 'Ada'").first)
        let bo = try #require(try context.all("Student", "name == 'Bo'").first)
        expect((ada.value(forKey: "enrolments") as? Set<NSManagedObject>)?.count, equals: 2)
        let law = try #require(try context.all("Course", "title == 'Law'").first)
        context.insert("Enrolment", ["student": bo, "course": law, "grade": 1])
        try context.save()
        try expect(scratch.text("enrolment.csv"), equals: "student_id,course_id,grade\n1,8,2\n1,7,3\n2,8,1\n")
    }
}
