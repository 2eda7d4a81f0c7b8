internal import Foundation
internal import ObjectGraph

/// The code, in Cocoa's domain, of a read or a change whose credentials the backend rejects: the user has to sign in again. It is not one of Apple's codes.
///
/// Changes wait meanwhile: see ``CachedStoreStatus/awaitingCredentialsCount``.
public let CredentialsExpiredError = 134598

extension RemoteStoreError {
    /// Returns an error in the form that programs receive: an error about credentials gets its own code, regardless of the error that the backend has thrown.
    static func told(_ error: any Error) -> any Error {
        let known = error as NSError
        if known.domain == NSCocoaErrorDomain, known.code == CredentialsExpiredError { return error }
        // An unknown outcome is the more important information.
        guard Prospect(error).needsCredentials, !(error is UnknownOutcome) else { return error }
        // The cause stays unconverted: as an `NSError` it would lose, outside Apple's platforms, its conformance to `PassingError`.
        return CoreDataError.make(
            CredentialsExpiredError, "The backend does not take the credentials.", reason: known.localizedDescription,
            next: "Sign in again, and tell a cached store by credentialsDidChange().", info: [NSUnderlyingErrorKey: error])
    }

    /// The error of changes of a user after another user has signed in.
    static func otherUser(_ entity: String) -> NSError {
        CoreDataError.make(
            CredentialsExpiredError, "Changes of “\(entity)” are not sent.", reason: "Another user has signed in.",
            next: "Let their user sign in.")
    }

    /// The error of an edit of an object that has pending changes of another user.
    static func belongsToAnother(_ entity: String) -> NSError {
        CoreDataError.make(
            NSPersistentStoreSaveError, "A change of “\(entity)” cannot be saved.",
            reason: "The object has changes of another user that are not sent yet, and would be sent with them.",
            next: "Let that user sign in, or drop those changes; or give each user a cache of their own, by CachedStoreOptions.user.")
    }
}
