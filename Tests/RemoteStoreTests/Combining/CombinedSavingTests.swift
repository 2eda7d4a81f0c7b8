import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting
import TestSupport
import Testing

@Suite("Saving objects of several backends") struct CombinedSavingTests {
    private func contact(_ email: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        try #require(try context.fetch(fetchRequest("Contact", "email == %@", [email])).first)
    }

    @Test("A change goes to the part whose property it is, and one of both to both")
    func updates() throws {
        let world = try AddressWorld()
        let context = try world.context()
        try context.performAndWait {
            let ann = try contact("ann@a.example", context)
            ann.setValue("+49 9", forKey: "phone")
            try context.save()
            expect(world.book.saves.map { $0.map(\.values) }, equals: [[["phone": "+49 9"]]])
            expect(world.book.saves[0][0].id, equals: 1)
            #expect(world.sales.saves.isEmpty)
            ann.setValuesForKeys(["name": "Anna", "revenue": 5])
            try context.save()
        }
        let known = world.values("ann@a.example")
        #expect(known.book?["name"] == "Anna" && known.book?["phone"] == "+49 9")
        expect(known.sales?["revenue"], equals: 5)
    }

    @Test("A part that does not have the object gets it as a new one")
    func newInPart() throws {
        let world = try AddressWorld()
        let context = try world.context()
        try context.performAndWait {
            let bob = try contact("bob@a.example", context)
            bob.setValue(3, forKey: "revenue")
            try context.save()
            bob.setValue(4, forKey: "revenue")
            try context.save()
        }
        expect(world.sales.saves.map { $0.map(\.kind) }, equals: [[.insert], [.update]])
        expect(world.values("bob@a.example").sales?["revenue"], equals: 4)
        #expect(world.book.saves.isEmpty)
    }

    @Test("A new object is made in each part that keeps a value of it, and a deletion goes to every part that has it")
    func insertAndDelete() throws {
        let world = try AddressWorld()
        let context = try world.context()
        try context.performAndWait {
            let new: [(String, [String: Any])] = [
                ("eva@a.example", ["revenue": 1]), ("fay@a.example", ["name": "Fay"]), ("gus@a.example", [:]),
            ]
            for (email, values) in new {
                let object = NSEntityDescription.insertNewObject(forEntityName: "Contact", into: context)
                object.setValue(email, forKey: "email")
                object.setValuesForKeys(values)
            }
            try context.save()
            #expect(world.values("eva@a.example").book == nil && world.values("eva@a.example").sales?["revenue"] == 1)
            #expect(world.values("fay@a.example").book?["name"] == "Fay" && world.values("fay@a.example").sales == nil)
            #expect(world.values("gus@a.example").book != nil && world.values("gus@a.example").sales == nil)
            context.delete(try contact("ann@a.example", context))
            context.delete(try contact("eva@a.example", context))
            try context.save()
        }
        #expect(world.values("ann@a.example").book == nil && world.values("ann@a.example").sales == nil)
        #expect(world.values("eva@a.example").sales == nil)
        #expect(world.book.ids("Contact").count == 3 && world.sales.ids("Contact").count == 1)
    }

    @Test("An object that refers to a shared one is saved with what the part calls it")
    func references() throws {
        let world = try AddressWorld()
        let context = try world.context()
        try context.performAndWait {
            let deal = NSEntityDescription.insertNewObject(forEntityName: "Deal", into: context)
            deal.setValue("Harp", forKey: "title")
            deal.setValue(try contact("ann@a.example", context), forKey: "contact")
            try context.save()
            expect(world.sales.saves.last?.first?.values["contact"], equals: .one(12))
            let other = NSEntityDescription.insertNewObject(forEntityName: "Deal", into: context)
            other.setValue(try contact("bob@a.example", context), forKey: "contact")
            let error = #expect(throws: NSError.self) { try context.save() }
            expect(error.map { "\($0)" }?.contains("“sales” does not have"), equals: true, "\(error as Any)")
        }
    }

    @Test("What others have changed since is a conflict, in whichever part", arguments: [true, false])
    func conflicts(isInBook: Bool) throws {
        let world = try AddressWorld()
        let context = try world.context()
        try context.performAndWait {
            let ann = try contact("ann@a.example", context)
            _ = ann.value(forKey: "phone")
            if isInBook { world.book.change("Contact", 1, ["phone": "other"]) } else { world.sales.change("Contact", 12, ["revenue": 0]) }
            ann.setValue("+49 9", forKey: "phone")
            ann.setValue(9, forKey: "revenue")
            let error = #expect(throws: NSError.self) { try context.save() }
            expect(error?.code, equals: NSManagedObjectMergeError)
            #expect(world.book.saves.isEmpty && world.sales.saves.isEmpty)
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
        }
        #expect(world.values("ann@a.example").book?["phone"] == "+49 9" && world.values("ann@a.example").sales?["revenue"] == 9)
    }

    @Test(
        "A change that a part refuses is an error that names it, and what the other has saved is not sent again", arguments: [true, false]
    ) func partlyRefused(isNew: Bool) throws {
        let world = try AddressWorld()
        let context = try world.context()
        world.sales.scriptOutcomes { _ in .refused(Refusal()) }
        try context.performAndWait {
            let object =
                isNew ? NSEntityDescription.insertNewObject(forEntityName: "Contact", into: context) : try contact("ann@a.example", context)
            if isNew { object.setValue("eva@a.example", forKey: "email") }
            object.setValuesForKeys(["phone": "+1", "revenue": 8])
            let error = #expect(throws: (any Error).self) { try context.save() }
            let message = error.map { "\($0) \(($0 as NSError).localizedDescription)" } ?? ""
            #expect(message.contains("“sales”") && message.contains("quota"))
            #expect(object.hasChanges)
            world.sales.scriptOutcomes { _ in nil }
            object.setValue(9, forKey: "revenue")
            try context.save()
            #expect(!context.hasChanges)
        }
        expect(world.book.saves.count, equals: 1)
        let known = world.values(isNew ? "eva@a.example" : "ann@a.example")
        #expect(known.book?["phone"] == "+1" && known.sales?["revenue"] == 9)
        expect(world.book.ids("Contact").count, equals: (isNew ? 3 : 2))
    }

    @Test("A deletion that a part refuses is finished there when it is saved again") func partlyDeleted() throws {
        let world = try AddressWorld()
        let context = try world.context()
        world.sales.scriptOutcomes { $0.entity == "Contact" ? .refused(Refusal()) : nil }
        try context.performAndWait {
            context.delete(try contact("ann@a.example", context))
            let error = #expect(throws: (any Error).self) { try context.save() }
            expect(error.map { "\($0)" }?.contains("“sales”"), equals: true)
            #expect(world.values("ann@a.example").book == nil && world.values("ann@a.example").sales != nil)
            world.sales.scriptOutcomes { _ in nil }
            try context.save()
        }
        #expect(world.values("ann@a.example").sales == nil)
        expect(world.book.saves.count, equals: 1)
    }

    @Test("A new object that is there already is a conflict, unless it is what was sent: then it has the values that the part has")
    func existing() throws {
        let world = try AddressWorld()
        let context = try world.context()
        try context.performAndWait {
            let ann = NSEntityDescription.insertNewObject(forEntityName: "Contact", into: context)
            ann.setValuesForKeys(["email": "ann@a.example", "phone": "+1"])
            #expect(throws: NSError.self) { try context.save() }
            context.rollback()
            let bob = NSEntityDescription.insertNewObject(forEntityName: "Contact", into: context)
            bob.setValuesForKeys(["email": "bob@a.example", "phone": "+44 2"])
            try context.save()
            expect(bob.value(forKey: "name") as? String, equals: "Bob")
        }
        #expect(world.book.saves.isEmpty && world.sales.saves.isEmpty)
    }

    @Test("A change of an identity, and one that a part cannot save, are errors before anything is sent")
    func refusedBefore() throws {
        let world = try AddressWorld(salesSaving: .init([.update]))
        let context = try world.context()
        try context.performAndWait {
            let ann = try contact("ann@a.example", context)
            ann.setValue("anna@a.example", forKey: "email")
            let error = #expect(throws: NSError.self) { try context.save() }
            expect(error.map { "\($0)" }?.contains("“email” is its identity"), equals: true, "\(error as Any)")
            context.rollback()
            context.delete(ann)
            #expect(throws: NSError.self) { try context.save() }
            context.rollback()
            let again = NSEntityDescription.insertNewObject(forEntityName: "Contact", into: context)
            again.setValuesForKeys(["email": "carl@a.example", "name": "Carl"])
            #expect(throws: NSError.self) { try context.save() }
        }
        // Ann's deal was without her, for all that sales has been told.
        #expect(world.book.saves.isEmpty && world.sales.saves.joined().allSatisfy { $0.entity == "Deal" })
    }
}
