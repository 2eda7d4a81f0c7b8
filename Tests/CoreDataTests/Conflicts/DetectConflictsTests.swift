import CoreData
import TestSupport
import Testing

@Suite("Looking for conflicts of objects that have not changed") struct DetectConflictsTests {
    /// Runs `body` with an object and another, read in two contexts; the first context has then saved a change of the object.
    private func race(_ body: (NSManagedObjectContext, _ read: Tag, _ changed: Tag) throws -> Void) throws {
        try withTwoContexts { first, second in
            let ids = try first.performAndWait {
                let tags = [Tag(context: first), Tag(context: first)]
                try first.save()
                return tags.map(\.objectID)
            }
            let tags = try second.performAndWait {
                try ids.map { id in
                    let tag = try #require(try second.existingObject(with: id) as? Tag)
                    #expect(tag.label == nil)
                    return tag
                }
            }
            try first.performAndWait {
                (first.object(with: ids[0]) as? Tag)?.label = "theirs"
                try first.save()
            }
            try second.performAndWait { try body(second, tags[0], tags[1]) }
        }
    }

    @Test("A marked object that others have changed is a conflict; an unmarked one is none")
    func marked() throws {
        try race { context, read, changed in
            changed.label = "mine"
            context.detectConflicts(for: read)
            let error = try #require(failure { try context.save() })
            expect(error.code, equals: NSManagedObjectMergeError)
            let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict]
            expect(conflicts?.map(\.sourceObject), equals: [read])
            context.refresh(read, mergeChanges: true)
            try context.save()
            expect(read.label, equals: "theirs")
            #expect(!context.hasChanges)
        }
        try race { context, _, changed in
            changed.label = "mine"
            try context.save()
        }
    }

    @Test("The mark counts the version up, so that others meet a conflict in turn, and goes with the save")
    func countedUp() throws {
        try withTwoContexts { first, second in
            let ids = try first.performAndWait {
                let tags = [Tag(context: first), Tag(context: first)]
                try first.save()
                return tags.map(\.objectID)
            }
            let theirs = second.performAndWait { second.object(with: ids[0]) as? Tag }
            second.performAndWait { #expect(theirs?.label == nil) }
            try first.performAndWait {
                let tags = ids.map(first.object(with:))
                first.detectConflicts(for: tags[0])
                (tags[1] as? Tag)?.label = "mine"
                try first.save()
                (tags[0] as? Tag)?.label = "mine too"
                try first.save()
                (tags[1] as? Tag)?.label = "mine again"
                try first.save()
            }
            second.performAndWait {
                theirs?.label = "theirs"
                expect(failure { try second.save() }?.code, equals: NSManagedObjectMergeError)
            }
        }
    }

    @Test("A child's mark is the parent's from its save on")
    func child() throws {
        try race { context, read, changed in
            let child = NSManagedObjectContext(.privateQueue)
            child.parent = context
            try child.performAndWait {
                (child.object(with: changed.objectID) as? Tag)?.label = "mine"
                child.detectConflicts(for: child.object(with: read.objectID))
                try child.save()
            }
            expect(failure { try context.save() }?.code, equals: NSManagedObjectMergeError)
        }
    }

    @Test("A rollback takes the mark away")
    func rolledBack() throws {
        try race { context, read, changed in
            context.detectConflicts(for: read)
            context.rollback()
            changed.label = "mine"
            try context.save()
        }
    }
}
