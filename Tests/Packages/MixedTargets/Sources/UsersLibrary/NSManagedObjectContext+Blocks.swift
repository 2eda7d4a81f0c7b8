import CoreData

extension NSManagedObjectContext {
    /// Returns what a block returns, as libraries had it before Core Data did: over the function of Core Data without a result.
    public func performAndWait<T>(_ block: () throws -> T) rethrows -> T {
        var result: T?
        func run(_ body: () throws -> Void, rescue: (any Error) throws -> Void) rethrows {
            var failure: (any Error)?
            performAndWait {
                do { try body() } catch { failure = error }
            }
            if let failure { try rescue(failure) }
        }
        try run({ result = try block() }, rescue: { throw $0 })
        return result!
    }
}
