import CoreData
import Foundation
import Platform
import Predicates
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph

/// What is verified where unsafe code, queues and takers are concerned.
@Suite("Internal checks") struct InternalCheckTests {
    private class Animal {}
    private final class Cat: Animal {}
    private final class Dog: Animal {}

    @Test func aHandoverIsTakenOnItsQueue() {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        let handover = QueueBound([1], on: context)
        expect(context.performAndWait { handover.value }, equals: [1])
        expect(handover.givenToCaller(), equals: [1])
    }

    @Test func whatFitsPassesUnchanged() {
        let animals: [Animal] = [Cat(), Cat()]
        #expect(unchecked(animals[0], as: Cat.self) === animals[0])
        expect(uncheckedArray(animals, of: Cat.self).map(ObjectIdentifier.init), equals: animals.map(ObjectIdentifier.init))
        expect(Optional(1).known("it is written here"), equals: 1)
    }

    @Test func aLockedBoxLetsOneAtATimeAtItsValue() async {
        let box = LockedBox(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<1000 { box.withLock { $0 += 1 } } }
            }
        }
        expect(box.withLock { $0 }, equals: 8000)
    }

    @Test func whatIsTransferredIsTakenOnce() {
        let transfer = Transfer(1)
        expect(InternalChecks.violations { _ = transfer.value }, equals: [])
        #expect(InternalChecks.violations { _ = transfer.value }.isEmpty != InternalChecks.areOn)
    }

    @Test func anArrayOfOthersIsFound() {
        let found = InternalChecks.violations { _ = uncheckedArray([Cat(), Dog()] as [Animal], of: Cat.self).count }
        #expect(found.isEmpty != InternalChecks.areOn)
        let gap = InternalChecks.violations { _ = uncheckedArray([Cat(), nil] as [Cat?], of: Cat.self).count }
        #expect(gap.isEmpty != InternalChecks.areOn)
    }

    #if DEBUG || COREDATA_INTERNAL_CHECKS
    @Test func aHandoverThatIsTakenOnAnotherQueueStopsTheProgram() async {
        await #expect(processExitsWith: .failure) {
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            _ = QueueBound(1, on: context).value
        }
    }
    #endif

    #if COREDATA_INTERNAL_CHECKS
    @Test func aBrokenInvariantStopsTheProgram() async {
        await #expect(processExitsWith: .failure) { InternalChecks.enforce(["broken"]) }
        await #expect(processExitsWith: .failure) { InternalChecks.require(false, "broken") }
    }

    @Test func whatIsUnsafeStopsTheProgramWhereItsProofIsWrong() async {
        await #expect(processExitsWith: .failure) { _ = unchecked(NSObject(), as: NSManagedObject.self) }
        await #expect(processExitsWith: .failure) { _ = Int?.none.known("it is said to be") }
    }
    #endif
}
