internal import Foundation
internal import ObjectGraph
internal import Predicates
package import StoreCommands

/// An error, with its place on the page.
package struct ExplorerError: Error {
    /// The kinds of error.
    package enum Kind: Sendable {
        /// The request is invalid.
        case wrong
        /// The requested thing does not exist.
        case notFound
        /// The session does not permit the request.
        case forbidden
    }

    package let kind: Kind
    private let message: String
    private let reason: String
    /// The field that the error belongs to: `where`, or a property of an object.
    private let field: String?
    /// The place in the field's text, in characters.
    private let position: Int?
    private let cause: (any Error)?

    init(
        _ kind: Kind, _ message: String, reason: String = "", field: String? = nil, position: Int? = nil, cause: (any Error)? = nil
    ) {
        (self.kind, self.message, self.reason) = (kind, message, reason)
        (self.field, self.position, self.cause) = (field, position, cause)
    }

    /// Creates the error of an invalid request.
    init(_ message: String, field: String? = nil, position: Int? = nil, cause: (any Error)? = nil) {
        self.init(.wrong, message, field: field, position: position, cause: cause)
    }

    /// Returns any error in the form for pages: its message, its field, the place in the field, and its combined errors.
    package static func json(_ error: any Error) -> JSONValue {
        .members(["error": json(any: error)])
    }

    private static func json(any error: any Error) -> JSONValue {
        if let error = error as? ExplorerError {
            return .members([
                "message": .string(error.reason.isEmpty ? error.message : "\(error.message) \(error.reason)"),
                "field": error.field.map(JSONValue.string), "position": error.position.map(JSONValue.count),
            ])
        }
        let error = error as NSError
        let several = (error.userInfo[NSDetailedErrorsKey] as? [any Error] ?? []).map { json(any: $0) }
        let object = (error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject)?.objectID
        return .members([
            "message": .string(error.localizedDescription),
            "field": (error.userInfo[NSValidationKeyErrorKey] as? String).map(JSONValue.string),
            "object": object.map { .string(Reading.reference($0)) }, "errors": several.isEmpty ? nil : .array(several),
        ])
    }

    /// Parses a predicate.
    ///
    /// - Throws: The mistake, with its place.
    static func predicate(_ format: String, of entity: NSEntityDescription) throws -> NSPredicate {
        do { return try QueryPredicate.parse(format, of: entity) } catch let error as InvalidPredicateError {
            throw invalid(error, format)
        }
    }

    /// Returns an error of a fetch, with its place in the predicate if it has one.
    static func located(_ error: any Error, in format: String?) -> any Error {
        guard let format, !(error is ExplorerError) else { return error }
        if let invalid = error as? InvalidPredicateError, invalid.position != nil { return Self.invalid(invalid, format) }
        // The message of a fetch has unknown names in quotation marks.
        let message = error.localizedDescription
        let names = message.split(omittingEmptySubsequences: false, whereSeparator: { "“”\"".contains($0) }).enumerated()
        for (index, name) in names where index % 2 == 1 && !name.isEmpty {
            guard let place = format.range(of: name) else { continue }
            let position = format.distance(from: format.startIndex, to: place.lowerBound)
            return ExplorerError(message, field: "where", position: position, cause: error)
        }
        return ExplorerError(message, field: "where", cause: error)
    }

    private static func invalid(_ error: InvalidPredicateError, _ format: String) -> ExplorerError {
        ExplorerError("The predicate is not valid: \(error.message)", field: "where", position: error.position, cause: error)
    }
}
