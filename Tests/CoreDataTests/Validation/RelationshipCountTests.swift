import CoreData
import TestSupport
import Testing

/// Teams of two to four players, in whichever store.
private func withTeams(optional: Bool = false, _ body: (NSManagedObjectContext) throws -> Void) throws {
    let team = NSEntityDescription(name: "Team")
    let player = NSEntityDescription(name: "Player")
    let players = NSRelationshipDescription(name: "players", destination: player, toMany: true, isOptional: optional)
    players.minCount = 2
    players.maxCount = 4
    let own = NSRelationshipDescription(name: "team", destination: team)
    players.inverse(to: own)
    team.properties = [players]
    player.properties = [own, NSAttributeDescription(name: "name", type: .string)]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [team, player]))
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = Music.context(coordinator)
    try context.performAndWait { try body(context) }
}

extension NSManagedObjectContext {
    fileprivate func team(of count: Int) -> NSManagedObject {
        let team = insert("Team")
        team.setValue(Set((0..<count).map { insert("Player", ["name": "\($0)"]) }), forKey: "players")
        return team
    }
}

@Suite("How many objects a to-many relationship may have, in saves") struct RelationshipCountTests {
    @Test("Two to four of two to four are saved; fewer and more fail with their codes, and nothing is stored", arguments: 0...5)
    func inserts(_ count: Int) throws {
        try withTeams { context in
            let team = context.team(of: count)
            let error = failure { try context.save() }
            switch count {
            // One without any lacks a value altogether where two are needed.
            case 0, 1: expect(error?.code, equals: NSValidationRelationshipLacksMinimumCountError)
            case 5: expect(error?.code, equals: NSValidationRelationshipExceedsMaximumCountError)
            default: #expect(error == nil)
            }
            if let error {
                expect(error.key, equals: "players")
                #expect(error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === team)
                expect((error.userInfo[NSValidationValueErrorKey] as? Set<NSManagedObject>)?.count, equals: count)
            }
            let other = Music.context(context.persistentStoreCoordinator!)
            let stored = try other.performAndWait { try other.all("Team").count }
            expect(stored, equals: (error == nil ? 1 : 0))
        }
    }

    @Test("An optional relationship may be empty, but not have too few")
    func optional() throws {
        try withTeams(optional: true) { context in
            _ = context.team(of: 0)
            try context.save()
            _ = context.team(of: 1)
            expect(failure { try context.save() }?.code, equals: NSValidationRelationshipLacksMinimumCountError)
        }
    }

    @Test("Who leaves or joins by the other end is counted, without the relationship having been read")
    func byTheOtherEnd() throws {
        try withTeams { context in
            let team = context.team(of: 2)
            try context.save()
            context.refreshAllObjects()
            let player = try #require(try context.all("Player").first)
            player.setValue(nil, forKey: "team")
            expect(failure { try context.save() }?.code, equals: NSValidationRelationshipLacksMinimumCountError)
            player.setValue(team, forKey: "team")
            try context.save()
            context.refreshAllObjects()
            for _ in 0..<3 { context.insert("Player").setValue(team, forKey: "team") }
            expect(failure { try context.save() }?.code, equals: NSValidationRelationshipExceedsMaximumCountError)
        }
    }

    @Test("A deleted object no longer counts; with the team itself gone nothing is counted")
    func deletes() throws {
        try withTeams { context in
            let team = context.team(of: 2)
            try context.save()
            context.delete(try #require(try context.all("Player").first))
            expect(failure { try context.save() }?.code, equals: NSValidationRelationshipLacksMinimumCountError)
            context.delete(team)
            try context.save()
            #expect(try context.all("Team").isEmpty)
            try expect(context.all("Player").count, equals: 1)
        }
    }

    @Test("One error lists the violations of two teams")
    func several() throws {
        try withTeams { context in
            let small = context.team(of: 1)
            let large = context.team(of: 5)
            let error = try #require(failure { try context.save() })
            expect(error.code, equals: NSValidationMultipleErrorsError)
            let objects = error.parts.map { $0.userInfo[NSValidationObjectErrorKey] as? NSManagedObject }
            expect(Set(objects.compactMap { $0 }), equals: [small, large])
            expect(
                Set(error.parts.map(\.code)),
                equals: [
                    NSValidationRelationshipLacksMinimumCountError, NSValidationRelationshipExceedsMaximumCountError,
                ])
        }
    }
}
