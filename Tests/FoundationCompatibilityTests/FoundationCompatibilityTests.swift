import CoreData
import FoundationCompatibility
import Testing

class Shelf: NSManagedObject {
    final class Book: NSManagedObject {}
}

private final class Secret: NSManagedObject {}

private enum Hidden {
    final class Secret: NSManagedObject {}
}

@Suite("Functions of Foundation on Apple's platforms") struct FoundationCompatibilityTests {
    struct Refusal: Error, Equatable {}

    @Test("An autorelease pool returns what its block returns, and throws what it throws")
    func autoreleasePool() throws {
        let three = autoreleasepool { 3 }
        #expect(three == 3)
        var count = 0
        autoreleasepool {
            count += 1
            count += 1
        }
        #expect(count == 2)
        #expect(throws: Refusal()) { try autoreleasepool { throw Refusal() } }
        let text = try autoreleasepool { () throws -> String in String(try Int("7", format: .number)) }
        #expect(text == "7")
    }

    @Test("A managed object class has a name wherever it is declared, and an entity finds it by the name")
    func classNames() throws {
        #expect(NSStringFromClass(Shelf.self) == "FoundationCompatibilityTests.Shelf")
        #expect(NSStringFromClass(Shelf.Book.self) == "FoundationCompatibilityTests.Shelf.Book")
        #expect(NSStringFromClass(Secret.self) == "FoundationCompatibilityTests.Secret")
        #expect(NSStringFromClass(Hidden.Secret.self) == "FoundationCompatibilityTests.Hidden.Secret")
        #expect(NSStringFromClass(NSManagedObject.self) == "ObjectGraph.NSManagedObject")
        for type in [Shelf.self, Shelf.Book.self, Secret.self, Hidden.Secret.self] as [NSManagedObject.Type] {
            let entity = NSEntityDescription()
            entity.name = "Entity"
            entity.managedObjectClassName = NSStringFromClass(type)
            #expect(entity.managedObjectClass == type)
            #expect(NSStringFromClass(type) == entity.managedObjectClassName)
        }
    }

    @Test("Private classes of one name have different names") func twins() {
        final class Secret: NSManagedObject {}
        #expect(Set([NSStringFromClass(Secret.self), NSStringFromClass(Self.other)]).count == 2)
    }

    private static var other: NSManagedObject.Type {
        final class Secret: NSManagedObject {}
        return Secret.self
    }

    @Test("Foundation's function names classes of other kinds") func otherClasses() {
        #expect(NSStringFromClass(EmbeddedModel.self) == "ModelFiles.EmbeddedModel")
    }
}
