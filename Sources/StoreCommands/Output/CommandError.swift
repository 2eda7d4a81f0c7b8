package import Foundation
internal import ObjectGraph

/// Creates the errors of commands.
package enum CommandError {
    /// Creates an error from a failure, its reason, and the advice.
    package static func make(_ what: String, reason: String? = nil, next: String? = nil, cause: (any Error)? = nil) -> NSError {
        CoreDataError.make(NSCoreDataError, what, reason: reason, next: next, cause: cause)
    }
}
