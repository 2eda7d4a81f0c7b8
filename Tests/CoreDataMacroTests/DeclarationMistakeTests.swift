#if Macros
import CoreDataMacros
import Testing

@ManagedObject final class Lonely: NSManagedObject { var other: Lonely2? }
@ManagedObject final class Lonely2: NSManagedObject { var name: String? }

@ManagedObject final class Vague: NSManagedObject {
    var first: Vague2?
    var second: Vague2?
}
@ManagedObject final class Vague2: NSManagedObject { var all: Set<Vague> }

@ManagedObject final class Crossed: NSManagedObject {
    @Relationship(inverse: \Crossed2.stranger) var other: Crossed2?
    @Relationship(inverse: \Crossed2.name) var named: Crossed2?
}
@ManagedObject final class Crossed2: NSManagedObject {
    @Relationship(inverse: nil) var stranger: Lonely2?
    var name: String?
}

@ManagedObject final class Claimed: NSManagedObject {
    @Relationship(inverse: \Claimed2.back) var one: Claimed2?
    @Relationship(inverse: \Claimed2.back) var two: Claimed2?
    @Relationship(inverse: \Claimed2.alone) var three: Claimed2?
}
@ManagedObject final class Claimed2: NSManagedObject {
    var back: Claimed?
    @Relationship(inverse: nil) var alone: Claimed?
}

class Undeclared: NSManagedObject {}
final class Below: Node {}
@ManagedObject final class LeadsAstray: NSManagedObject { @Relationship(inverse: nil) var other: Undeclared? }

@ManagedObject(.unique("nome"), .index("nome"), .index("name", where: "name ==")) final class Misnamed: Node {
    @Attribute(.type(.string)) var count: Int = 0
    @Attribute(.range(1...2)) var day: Date?
    @Attribute(.derived(from: "tracks.")) var tracks: Int = 0
    @Attribute(.validated("SELF ==")) var text: String?
}

/// Declarations that make no model: an error with every mistake, the place, and what to do.
struct DeclarationMistakeTests {
    private func mistakes(_ classes: NSManagedObject.Type...) -> String {
        do {
            _ = try NSManagedObjectModel(for: classes)
            return "no mistake"
        } catch {
            let error = error as NSError
            #expect(error.domain == NSCocoaErrorDomain)
            #expect(error.code == 134020)
            return error.localizedDescription
        }
    }

    @Test func aRelationshipWithoutAWayBackIsAnError() {
        let text = mistakes(Lonely.self)
        #expect(text.contains("“Lonely.other” has no inverse: add a relationship to “Lonely2” that leads back"))
        #expect(text.contains("@Relationship(inverse: nil)"))
    }

    @Test func twoWaysBackAreAnError() {
        let text = mistakes(Vague.self)
        #expect(text.contains("The inverse of “Vague2.all” is not clear: “Vague.first” or “Vague.second”."))
        #expect(text.contains("inverse: \\Vague.first."))
    }

    @Test func anInverseThatLeadsElsewhereIsAnError() {
        let text = mistakes(Crossed.self)
        #expect(text.contains("“Crossed2.stranger”, which leads to “Lonely2” and not back to “Crossed”"))
        #expect(text.contains("“name”, which is not a relationship of “Crossed2”"))
    }

    @Test func anInverseBelongsToOneRelationship() {
        let text = mistakes(Claimed.self)
        #expect(text.contains("“Claimed2.back” is to be the inverse of both “Claimed.one” and “Claimed.two”"))
        #expect(text.contains("“Claimed2.alone”, which says that it has none"))
    }

    @Test func aClassThatDeclaresNothingIsAnError() {
        #expect(mistakes(Undeclared.self).contains("Undeclared declares no entity: mark the class @ManagedObject."))
        #expect(mistakes(LeadsAstray.self).contains("Undeclared, where “LeadsAstray.other” leads, declares no entity"))
        #expect(mistakes(Below.self).contains("Below declares no entity"))
    }

    @Test func everyMistakeOfAClassIsToldAtOnce() {
        let text = mistakes(Misnamed.self)
        #expect(text.contains("An index of “Misnamed” is over “nome”, which is not a property of it"))
        #expect(text.contains("“Misnamed.count” cannot be read as its Swift type"))
        #expect(text.contains("“Misnamed.day”: The bound 1 is none of the attribute's type"))
        #expect(text.contains("“Misnamed.tracks”: "))
        #expect(text.contains("“Misnamed.text”: "))
    }

    @Test func aContainerOfMistakenClassesThrows() {
        #expect(throws: NSError.self) { try NSPersistentContainer(name: "Lonely", for: Lonely.self) }
    }
}
#endif
