public import Foundation
internal import PropertyLists

/// A conflict between the changes of this context and those that others have saved since it read the object.
///
/// A snapshot is a dictionary of values by property name: attributes, and to-one relationships as IDs. ``newVersionNumber`` is 0 when the
/// object was deleted.
///
/// Source: [NSMergeConflict](https://developer.apple.com/documentation/coredata/nsmergeconflict).
// Immutable; the object in it belongs to its context's queue.
open class NSMergeConflict: NSObject, @unchecked Sendable {
    /// The object of the save.
    public let sourceObject: NSManagedObject
    /// The values of the object when it was read.
    public let objectSnapshot: [String: Any]?
    /// The values that the coordinator has cached since.
    public let cachedSnapshot: [String: Any]?
    /// The values in the store.
    public let persistedSnapshot: [String: Any]?
    /// The version in the store; 0 for a deleted object.
    public let newVersionNumber: Int
    /// The version of the object when it was read.
    public let oldVersionNumber: Int
    let storedRow: Row?
    /// The values that the store's values are compared with, for the description: those that were read, or those of a new object.
    private let comparedSnapshot: [String: Any]?

    /// Creates a conflict, for stores that detect one themselves and throw it in an error of code 133020 under `"conflictList"`.
    ///
    /// - Parameters:
    ///   - srcObject: The object of the save.
    ///   - newvers: The version in the store, 0 if it has deleted the object.
    ///   - oldvers: The version of the object when it was read.
    ///   - cachesnap: The cached values, if they differ.
    ///   - persnap: The values in the store.
    public init(
        source srcObject: NSManagedObject, newVersion newvers: Int, oldVersion oldvers: Int, cachedSnapshot cachesnap: [String: Any]?,
        persistedSnapshot persnap: [String: Any]?
    ) {
        sourceObject = srcObject
        objectSnapshot = srcObject.snapshot.map { $0.conflictSnapshot(of: srcObject.owningEntity) }
        cachedSnapshot = cachesnap
        persistedSnapshot = persnap
        newVersionNumber = newvers
        oldVersionNumber = oldvers
        storedRow = nil
        comparedSnapshot = objectSnapshot
    }

    init(_ object: NSManagedObject, stored: Row?) {
        sourceObject = object
        objectSnapshot = object.snapshot.map { $0.conflictSnapshot(of: object.owningEntity) }
        cachedSnapshot = stored.map { $0.conflictSnapshot(of: object.owningEntity) }
        persistedSnapshot = cachedSnapshot
        newVersionNumber = Int(stored?.version ?? 0)
        oldVersionNumber = Int(object.snapshot?.version ?? 0)
        storedRow = stored
        comparedSnapshot = objectSnapshot ?? object.row?.conflictSnapshot(of: object.owningEntity)
    }

    /// The row that the object is rebased onto; nil when the object was deleted.
    var rowToMerge: Row? {
        if let storedRow { return storedRow }
        guard newVersionNumber > 0, let values = persistedSnapshot ?? cachedSnapshot else { return nil }
        return try? Row.make(
            values, entity: sourceObject.owningEntity, objectID: sourceObject.objectID, version: Int64(newVersionNumber))
    }

    /// A description of the object and the two versions, or of the differences if a store has no versions to compare.
    open override var description: String {
        let found =
            switch newVersionNumber {
            case 0: "and has been deleted"
            case oldVersionNumber where !differences.isEmpty: "and the store has other values of \(differences.joined(separator: ", "))"
            case oldVersionNumber: "and the store says that others have changed it"
            default:
                "the store has version \(newVersionNumber)"
                    + (differences.isEmpty ? "" : ", with other values of \(differences.joined(separator: ", "))")
            }
        guard !isNew else {
            let values = differences.isEmpty ? "" : ", with other values of \(differences.joined(separator: ", "))"
            return "NSMergeConflict: \(sourceObject.objectID) is new, and the store has one with its identifier\(values)".shortened
        }
        return "NSMergeConflict: \(sourceObject.objectID) was read with version \(oldVersionNumber), \(found)".shortened
    }

    /// Whether the object was never read: it is the store that has another one with its identifier.
    private var isNew: Bool { objectSnapshot == nil && newVersionNumber > 0 }

    /// The properties whose stored values differ from those that were read, or from those of a new object.
    private var differences: [String] {
        guard let read = comparedSnapshot, let stored = persistedSnapshot ?? cachedSnapshot else { return [] }
        return Set(read.keys).union(stored.keys).filter { read[$0] as? AnyHashable != stored[$0] as? AnyHashable }.sorted()
    }

    /// Creates the error that passes conflicts to the merge policy and, if they stay unresolved, to the caller of the save.
    static func error(_ conflicts: [NSMergeConflict]) -> NSError {
        CoreDataError.make(
            NSManagedObjectMergeError, "\(conflicts.count) objects were changed by others since they were read.",
            reason: CoreDataError.list(conflicts, \.description),
            next: "Refresh them and save again, or set a merge policy.",
            info: [NSPersistentStoreSaveConflictsErrorKey: conflicts, NSAffectedObjectsErrorKey: conflicts.map(\.sourceObject)])
    }
}
