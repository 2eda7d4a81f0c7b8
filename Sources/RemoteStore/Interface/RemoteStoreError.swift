internal import Foundation
internal import ObjectGraph
internal import Predicates

/// Creates the errors of remote stores: what failed, why, and what to do next.
enum RemoteStoreError {
    static func readOnly(_ entity: String, at location: URL) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "“\(entity)” cannot be saved at \(location.absoluteString).",
            reason: "The backend has declared no way to save this change.",
            next: "Give its resource a saving: description with this kind of change, or do not change such objects.")
    }

    static func unknownEntity(_ name: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError, "The backend has answered with “\(name)”.", reason: "The model has no such entity.",
            next: "Give the name of an entity of the model.")
    }

    static func unknownProperty(_ name: String, of entity: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError, "The backend has answered with “\(name)” of “\(entity)”.",
            reason: "The entity has no such property.", next: "Give the names of properties of the model.")
    }

    static func unfit(_ value: ResourceValue, _ property: String, of entity: String, _ id: ResourceID?) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError,
            "“\(property)” of “\(entity)” \(id.map(\.description) ?? "without an identifier") cannot be read.",
            reason: "The backend has answered \(value), which the property cannot hold.", next: "Convert the value in the backend.")
    }

    /// The error of an object whose row, or a reference to it, has its identifier in another form.
    static func otherForm(of entity: String, _ asked: ResourceID, _ found: ResourceID) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError, "“\(entity)” \(asked) cannot be read.",
            reason: "It was asked for by “\(asked)”, which is \(asked.formName), and came as “\(found)”, which is \(found.formName).",
            next:
                "Let rows and references have one form: in the description of a web service, write \(found.cure(for: asked)) for “\(entity)”."
        )
    }

    /// The error of a change that the backend does not accept.
    static func unsent(_ property: String, of entity: String, _ id: ResourceID?) -> NSError {
        CoreDataError.make(
            NSManagedObjectValidationError,
            "“\(property)” of “\(entity)” \(id.map(\.description) ?? "without an identifier") cannot be saved.",
            reason: "The service does not take it: its description has it as readOnly or ignored, or has no place for it.",
            next: "Leave the property as it is (refresh the object), or describe where changes of it are written.",
            info: [NSValidationKeyErrorKey: property])
    }

    static func foreignColumn(of entity: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError, "A value of “\(entity)” cannot be read.",
            reason: "The column that the backend has given is not one of the entity's.",
            next: "Look columns up by the writer, or by the request for its own entity.")
    }

    /// The error of a description that does not fit the model.
    static func description(_ reason: String, next: String) -> NSError {
        CoreDataError.make(NSPersistentStoreOpenError, "The backend's description is wrong.", reason: reason, next: next)
    }

    /// The error of a fetch that no endpoint can answer.
    static func unanswerable(_ entity: String, _ clause: String?, _ reasons: [String]) -> NSError {
        let what = clause.map { "“\(entity)” cannot be fetched where \($0)." } ?? "All objects of “\(entity)” cannot be fetched."
        return CoreDataError.make(
            NSPersistentStoreUnsupportedRequestTypeError, what,
            reason: reasons.isEmpty ? "The backend has no endpoint for “\(entity)”." : reasons.joined(separator: " "),
            next: reasons.isEmpty ? "Describe one." : "Give the predicate what one of them needs, as a part of its AND.")
    }

    /// The error of a fetch that reads too much because a clause is evaluated in memory.
    static func overBudget(_ entity: String, clause: String, rows: Int, requests: Int, _ options: RemoteStoreOptions) -> NSError {
        CoreDataError.make(
            NSPersistentStoreUnsupportedRequestTypeError, "The fetch of “\(entity)” was given up.",
            reason:
                "The backend cannot do “\(clause)”, so \(rows) rows were read by \(requests) requests to finish it in memory; the limits "
                + "are \(options.maximumRows) rows and \(options.maximumRequests) requests.",
            next:
                "Narrow the predicate by what the backend can do (see the plan of the request), or raise the limits in RemoteStoreOptions.")
    }

    /// The error of a fetch that would make too many requests because a clause is evaluated in memory.
    static func wouldBeOverBudget(_ entity: String, clause: String, requests: Int, _ options: RemoteStoreOptions) -> NSError {
        CoreDataError.make(
            NSPersistentStoreUnsupportedRequestTypeError, "The fetch of “\(entity)” was given up.",
            reason:
                "The backend cannot do “\(clause)”, and \(requests) requests would have to be made to finish it in memory; the limit is "
                + "\(options.maximumRequests).",
            next:
                "Narrow the predicate by what the backend can do (see the plan of the request), describe an endpoint that reads several objects by "
                + "their identifiers, or raise maximumRequests in RemoteStoreOptions.")
    }

    /// The error of a fetch that exceeds the limit of results or of pages.
    static func tooMany(_ entity: String, rows: Int, requests: Int, _ options: RemoteStoreOptions) -> NSError {
        let isOfRows = rows > options.maximumResults
        return CoreDataError.make(
            NSPersistentStoreOperationError, "The fetch of “\(entity)” was given up.",
            reason:
                "\(rows) rows have come by \(requests) requests, and the backend has still more; the limits are \(options.maximumResults) rows and "
                + "\(options.maximumPages) requests.",
            next:
                "Give the fetch a limit or a narrower predicate, describe \(isOfRows ? "another end of the pages" : "larger pages"), or raise "
                + "\(isOfRows ? "maximumResults" : "maximumPages") in RemoteStoreOptions.")
    }

    static func unreadable(_ request: BackendRequest, _ error: any Error) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError, "The answer to \(request) is refused.",
            reason:
                "It contains what cannot be read: \((error as? UnreadableResource).map { "\($0)" } ?? (error as NSError).localizedDescription)",
            next: "Convert the value in the backend, or have its resource keep or report such resources.")
    }

    /// The error of an answer with resources that cannot be identified, because they have no identifier where the description expects it.
    static func leftOut(_ request: BackendRequest, _ count: Int, of all: Int, _ sample: any Error) -> NSError {
        let note = sample as? UnreadableResource
        let text = note.map { "\($0)" } ?? (sample as NSError).localizedDescription
        return CoreDataError.make(
            NSPersistentStoreOperationError, "The answer to \(request) is refused.",
            reason: "\(count) of its \(all) resources cannot be read. The first of them: \(text)"
                + (note?.sample.map { text.contains($0) ? "" : " \($0)" } ?? ""),
            next: "Correct the description, or the backend; or let its resource report what cannot be read and leave it out.",
            info: [NSUnderlyingErrorKey: note ?? UnreadableResource(request.entity, id: nil, reason: sample)])
    }

    /// The error of a value that the backend has received and could not read.
    static func unreadValue(_ note: UnreadableResource, _ property: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError,
            "“\(property)” of “\(note.entity)” \(note.id.map(\.description) ?? "without an identifier") cannot be read.",
            reason: (note.reason as NSError).localizedDescription,
            next: "Correct the description of the property, or its value; then refresh the object.", info: [NSUnderlyingErrorKey: note])
    }

    /// Whether an error is about received data that could not be read: another request does not help.
    ///
    /// The cause stays unconverted: as an `NSError` it would lose its type outside Apple's platforms.
    static func isUnreadable(_ error: any Error) -> Bool {
        error is UnreadableResource || (error as NSError).userInfo[NSUnderlyingErrorKey] is UnreadableResource
    }

    /// The error of pages that repeat the previous page twice.
    static func repeatedPages(_ request: BackendRequest) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError, "The pages of \(request) do not end.",
            reason: "The backend has answered with the resources of the page before, twice.",
            next:
                "Compare the description of pages with what the backend takes: it may not know the name by which the page is asked for, or give the last page for each that comes after it. Then name what tells the last page, such as the number of all resources."
        )
    }

    /// The evidence that pages do not end.
    enum EndlessPages {
        /// A page names a page that was already read as the next one.
        case named
        /// This number of consecutive pages had no new resource, and each names another page.
        case nothingNew(Int)
        /// This number of consecutive pages had no resources, and each names another page.
        case empty(Int)
    }

    static func endlessPages(_ request: BackendRequest, _ kind: EndlessPages) -> NSError {
        let (reason, next) =
            switch kind {
            case .named: ("The backend has given the token of a page that was read before.", "Let the last page have no next one.")
            case .nothingNew(let count):
                (
                    "\(count) pages in a row have brought no new resource, and the last of them names another page.",
                    "Compare the description of pages with what the backend takes, and let the last page have no next one."
                )
            case .empty(let count):
                (
                    "\(count) pages in a row had no resource, and the last of them names another page.",
                    "Let the last page have no next one. Where an empty page is the last one, though it names another, the description of a web service "
                        + "says so by “endsEmpty: true” among the keys of “paging”."
                )
            }
        return CoreDataError.make(NSPersistentStoreOperationError, "The pages of \(request) do not end.", reason: reason, next: next)
    }

    static func noChangeFeed(at location: URL) -> NSError {
        CoreDataError.make(
            NSPersistentStoreUnsupportedRequestTypeError, "The backend at \(location.absoluteString) does not tell what has changed.",
            reason: "It has declared no change feed.",
            next: "Let it implement hasChangeFeed and changes(_:), or refresh the objects that are shown.")
    }

    /// The error of a batch request that cannot be sent as it is, because a part of it would have to be done in memory.
    static func batch(_ request: String, _ entity: String, _ reason: String, next: String, cause: (any Error)? = nil) -> NSError {
        CoreDataError.make(
            NSPersistentStoreUnsupportedRequestTypeError, "The \(request) of “\(entity)” cannot be executed.", reason: reason, next: next,
            cause: cause)
    }

    static func unidentified(_ id: ResourceID, _ entity: String, in part: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError, "“\(part)” refers to “\(entity)” \(id), which cannot be told.",
            reason: "It does not have that, or not its identity.", next: "Set the identity there, or end the reference.")
    }

    static func isThere(_ change: BackendChange) -> NSError { isThere(change.entity, change.id) }

    /// The error of a new object whose identifier the backend already uses for another object.
    static func isThere(_ entity: String, _ id: ResourceID?) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "A new “\(entity)” was not saved.",
            reason: "The backend has reported a conflict, or has one with this identifier.",
            next: "Read the resource with the identifier \(id.map(\.description) ?? "?").")
    }

    /// The error of a change whose conflict is not about a version.
    static func isOfNoVersion(_ entity: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "A change of “\(entity)” is not accepted.",
            reason: "The backend reports a conflict, and has the version that the change was made from.",
            next: "See what it refuses: a value that is to be unique, or versions that it compares in another way than it tells them.")
    }

    static func isUntaken(_ names: [String], _ change: BackendChange) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "A change of “\(change.entity)” was not made.",
            reason: "The backend has told of success, and “\(names.joined(separator: "”, “"))” is read as before, in the same version.",
            next: "See whether the backend lets it be changed.")
    }

    /// The error of a change that was accepted but that a read does not show.
    static func isUnseen(_ change: BackendChange) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "A change of “\(change.entity)” was not made.",
            reason: "The backend has told of success, and a read does not show it.", next: "See whether the backend lets it be changed.")
    }

    static func hasNoIdentifier(_ change: BackendChange) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "The identifier of a new “\(change.entity)” is not known.",
            reason: "The backend assigns identifiers, and its answer has none.", next: "Let its save(_:) return the identifier.")
    }

    /// The error of a new object that was accepted without an identifier, and cannot be distinguished from others.
    static func isNotIdentified(_ change: BackendChange, _ count: Int) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "A new “\(change.entity)” is not sent again.",
            reason:
                "The backend has accepted it without telling its identifier, and has \(count == 0 ? "none" : "\(count)") with its values.",
            next: "Fetch to see whether it is there, and delete this object or give its change up then.")
    }

    static func isTaken(_ resource: ResourceID, _ entity: NSEntityDescription) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "A new “\(entity.name ?? "?")” cannot be saved.",
            reason: "There is an object with the identifier \(resource).", next: "Change that object, or delete it first.")
    }

    static func wrongOffset(_ upload: BackendUpload, _ offset: Int64) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "“\(upload.property)” of a “\(upload.entity)” cannot be uploaded.",
            reason: "The backend has confirmed \(offset) of \(upload.size) bytes, after \(upload.confirmed).",
            next: "Let its uploadPlace(_:) and upload(_:of:) return the number of bytes that it has from the beginning.")
    }

    /// - Parameter names: The properties that others have also changed; nil if they have deleted the object.
    static func contested(_ entity: String, _ names: [String]?) -> NSError {
        CoreDataError.make(
            NSManagedObjectMergeError, "A change of “\(entity)” was not saved.",
            reason: names.map { "Others have changed the same: \($0.sorted().joined(separator: ", "))." }
                ?? "Others have deleted the object.",
            next: "Retry the change, which takes what is shown here, or drop it, which takes what the backend has.")
    }

    static func endlessChanges(_ token: ChangeToken, at location: URL) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError, "The changes at \(location.absoluteString) do not end.",
            reason: "The backend says that there are more, and gives the token that it was asked with: \(token).",
            next: "Let an answer that is not the last have a token of its own.")
    }

    /// The error of a backend that reports more changes without end.
    static func tooManyChanges(_ parts: Int, at location: URL) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError, "The changes at \(location.absoluteString) do not end.",
            reason: "\(parts) parts were merged, and the backend has still more.",
            next: "Ask again, which goes on there; let the backend tell more at a time, or raise maximumPages in RemoteStoreOptions.")
    }

    static func endedEarly(_ request: BackendRequest, _ count: Int, _ expected: Int) -> NSError {
        CoreDataError.make(
            NSPersistentStoreOperationError, "The answer to \(request) is not whole.",
            reason: "\(count) resources have come, and the backend has told of \(expected) on each page.",
            next:
                "Fetch again; if that stays so, let the order be unique, by a last key that no two resources share, and compare the description of pages "
                + "and of their total with what the backend answers.")
    }
}
