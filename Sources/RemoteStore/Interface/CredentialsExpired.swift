internal import Foundation
internal import ObjectGraph

/// The code, in Cocoa's domain, of a read or a change for which the backend does not take the credentials any more: somebody has to sign in. Not one of
/// Apple's.
///
/// Changes wait meanwhile: see ``CachedStoreStatus/awaitingCredentialsCount``.
public let CredentialsExpiredError = 134598

extension RemoteStoreError {
    /// Returns an error as programs get it: one about credentials has a code of its own, whatever the backend has thrown.
    static func told(_ error: any Error) -> any Error {
        let known = error as NSError
        if known.domain == NSCocoaErrorDomain, known.code == CredentialsExpiredError { return error }
        // That nobody knows what has become of a change says more.
        guard Prospect(error).needsCredentials, !(error is UnknownOutcome) else { return error }
        // The cause as it is: as an `NSError` it would not say any more, off Apple's platforms, what to expect.
        return CoreDataError.make(
            CredentialsExpiredError, "The backend does not take the credentials.", reason: known.localizedDescription,
            next: "Sign in again, and tell a cached store by credentialsDidChange().", info: [NSUnderlyingErrorKey: error])
    }

    /// The error of changes of a user in whose place somebody else has signed in.
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
