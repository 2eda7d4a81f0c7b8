public import Foundation

/// The kinds of result of an ``NSPersistentHistoryChangeRequest``.
public enum NSPersistentHistoryResultType: Int, Sendable {
    /// Whether the request succeeded: an `NSNumber`.
    case statusOnly = 0
    /// The changed objects: `[NSManagedObjectID]`, each once.
    case objectIDs = 1
    /// The number of transactions: an `NSNumber`.
    case count = 2
    /// `[NSPersistentHistoryTransaction]` without their changes.
    case transactionsOnly = 3
    /// `[NSPersistentHistoryChange]`.
    case changesOnly = 4
    /// `[NSPersistentHistoryTransaction]` with their changes.
    case transactionsAndChanges = 5
}

/// Fetches the history of stores, or deletes old history. Pass it to ``NSManagedObjectContext/execute(_:)``.
///
/// Stores opened with ``NSPersistentHistoryTrackingKey`` record their history.
///
/// Source: [NSPersistentHistoryChangeRequest](https://developer.apple.com/documentation/coredata/nspersistenthistorychangerequest).
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
    /// The boundary of the requested history.
    enum Limit {
        case date(Date)
        /// Nil denotes the beginning of the history.
        case token(NSPersistentHistoryToken?)
    }
    final var limit = Limit.token(nil)
    final var isDeletion = false

    /// The kind of result. The default is ``NSPersistentHistoryResultType/transactionsAndChanges``; a deletion returns
    /// ``NSPersistentHistoryResultType/statusOnly``, or a count if that is set.
    open var resultType = NSPersistentHistoryResultType.transactionsAndChanges
    /// The token after which history is fetched, or before which it is deleted; nil if the request has a date or no boundary.
    open var token: NSPersistentHistoryToken? { if case .token(let token) = limit { token } else { nil } }
    /// The fetch request that selects transactions or changes, according to its entity; nil for all of them.
    ///
    /// Create it with ``NSPersistentHistoryTransaction/fetchRequest`` or ``NSPersistentHistoryChange/fetchRequest``.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?

    private class func make(_ limit: Limit, isDeletion: Bool) -> Self {
        let request = Self()
        request.limit = limit
        request.isDeletion = isDeletion
        if isDeletion { request.resultType = .statusOnly }
        return request
    }

    /// Creates a request for the history after a date.
    open class func fetchHistory(after date: Date) -> Self { make(.date(date), isDeletion: false) }
    /// Creates a request for the history after a token; for the whole history with nil.
    open class func fetchHistory(after token: NSPersistentHistoryToken?) -> Self { make(.token(token), isDeletion: false) }
    /// Creates a request for the history after a transaction; for the whole history with nil.
    open class func fetchHistory(after transaction: NSPersistentHistoryTransaction?) -> Self {
        make(.token(transaction?.token), isDeletion: false)
    }
    /// Creates a request for the transactions or changes that match a fetch request.
    open class func fetchHistory(withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>) -> Self {
        let request = make(.token(nil), isDeletion: false)
        request.fetchRequest = fetchRequest
        return request
    }
    /// Creates a request that deletes the history before a date.
    open class func deleteHistory(before date: Date) -> Self { make(.date(date), isDeletion: true) }
    /// Creates a request that deletes the history before a token; nothing with nil. The transaction of the token is kept.
    open class func deleteHistory(before token: NSPersistentHistoryToken?) -> Self { make(.token(token), isDeletion: true) }
    /// Creates a request that deletes the history before a transaction; nothing with nil.
    open class func deleteHistory(before transaction: NSPersistentHistoryTransaction?) -> Self {
        make(.token(transaction?.token), isDeletion: true)
    }

    /// Returns a copy of the request.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone) as! NSPersistentHistoryChangeRequest
        copy.limit = limit
        copy.isDeletion = isDeletion
        copy.resultType = resultType
        copy.fetchRequest = fetchRequest
        return copy
    }
}

/// The result of an ``NSPersistentHistoryChangeRequest``.
open class NSPersistentHistoryResult: NSPersistentStoreResult {
    /// The value, of the type that the result type names.
    public let result: Any?
    /// The kind of result.
    public let resultType: NSPersistentHistoryResultType

    init(_ result: Any?, _ resultType: NSPersistentHistoryResultType) {
        self.result = result
        self.resultType = resultType
        super.init()
    }
}
