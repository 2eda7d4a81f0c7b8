import CoreData
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph

@Suite("Identities that a list contains twice") struct RepeatedIDTests {
    @Test("They lead to one new object, which is the one that the context knows")
    func repeated() throws {
        try withTwoContexts { first, second in
            let ids = try first.performAndWait { [try first.saveBand("Low").objectID, try first.saveBand("Hum").objectID] }
            second.performAndWait {
                let objects = second.objects(with: [ids[0], ids[1], ids[0], ids[0]])
                expect(objects.map(\.objectID), equals: [ids[0], ids[1], ids[0], ids[0]])
                #expect(objects[2] === objects[0])
                #expect(objects[3] === objects[0])
                #expect(second.registeredObject(for: ids[0]) === objects[0])
                expect(second.registeredObjects.count, equals: 2)
            }
        }
    }
}
