public import Foundation

/// What an ``NSPersistentHistoryChangeRequest`` is to answer with.
public enum NSPersistentHistoryResultType: Int, Sendable {
    /// Whether it was done: an `NSNumber`.
    case statusOnly = 0
    /// The changed objects: `[NSManagedObjectID]`, each once.
    case objectIDs = 1
    /// How many transactions there are: an `NSNumber`.
    case count = 2
    /// `[NSPersistentHistoryTransaction]` without their changes.
    case transactionsOnly = 3
    /// `[NSPersistentHistoryChange]`.
    case changesOnly = 4
    /// `[NSPersistentHistoryTransaction]` with their changes.
    case transactionsAndChanges = 5
}

/// Asks for the history of stores, or deletes what is old of it. Give it to ``NSManagedObjectContext/execute(_:)``.
///
/// Stores keep a history that are opened with ``NSPersistentHistoryTrackingKey``.
///
/// Source: [NSPersistentHistoryChangeRequest](https://developer.apple.com/documentation/coredata/nspersistenthistorychangerequest).
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
    /// Where the history that is meant begins or ends.
    enum Limit {
        case date(Date)
        /// Nil stands for the beginning of all history.
        case token(NSPersistentHistoryToken?)
    }
    final var limit = Limit.token(nil)
    final var isDeletion = false

    /// What to answer with. ``NSPersistentHistoryResultType/transactionsAndChanges`` unless set; deletions answer with
    /// ``NSPersistentHistoryResultType/statusOnly``, and with a count where that is set.
    open var resultType = NSPersistentHistoryResultType.transactionsAndChanges
    /// The place after which history is asked for, or before which it is deleted; nil where a date or nothing was given.
    open var token: NSPersistentHistoryToken? { if case .token(let token) = limit { token } else { nil } }
    /// Chooses among transactions or changes, whichever its entity describes; nil for all of them.
    ///
    /// Make it with ``NSPersistentHistoryTransaction/fetchRequest`` or ``NSPersistentHistoryChange/fetchRequest``.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?

    private class func make(_ limit: Limit, isDeletion: Bool) -> Self {
        let request = Self()
        request.limit = limit
        request.isDeletion = isDeletion
        if isDeletion { request.resultType = .statusOnly }
        return request
    }

    /// Asks for what was written after a time.
    open class func fetchHistory(after date: Date) -> Self { make(.date(date), isDeletion: false) }
    /// Asks for what was written after a place in the history; for all of it with nil.
    open class func fetchHistory(after token: NSPersistentHistoryToken?) -> Self { make(.token(token), isDeletion: false) }
    /// Asks for what was written after a transaction; for the whole history with nil.
    open class func fetchHistory(after transaction: NSPersistentHistoryTransaction?) -> Self {
        make(.token(transaction?.token), isDeletion: false)
    }
    /// Asks for the transactions or changes that a fetch request chooses.
    open class func fetchHistory(withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>) -> Self {
        let request = make(.token(nil), isDeletion: false)
        request.fetchRequest = fetchRequest
        return request
    }
    /// Deletes what was written before a time.
    open class func deleteHistory(before date: Date) -> Self { make(.date(date), isDeletion: true) }
    /// Deletes what lies before a place in the history; nothing with nil. The transaction of the token stays.
    open class func deleteHistory(before token: NSPersistentHistoryToken?) -> Self { make(.token(token), isDeletion: true) }
    /// Deletes what was written before a transaction; nothing with nil.
    open class func deleteHistory(before transaction: NSPersistentHistoryTransaction?) -> Self {
        make(.token(transaction?.token), isDeletion: true)
    }

    /// A request like this one.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone) as! NSPersistentHistoryChangeRequest
        copy.limit = limit
        copy.isDeletion = isDeletion
        copy.resultType = resultType
        copy.fetchRequest = fetchRequest
        return copy
    }
}

/// What an ``NSPersistentHistoryChangeRequest`` has found.
open class NSPersistentHistoryResult: NSPersistentStoreResult {
    /// What the result type says.
    public let result: Any?
    /// What was asked for.
    public let resultType: NSPersistentHistoryResultType

    init(_ result: Any?, _ resultType: NSPersistentHistoryResultType) {
        self.result = result
        self.resultType = resultType
        super.init()
    }
}
