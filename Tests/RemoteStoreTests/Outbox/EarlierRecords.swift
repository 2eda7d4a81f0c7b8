import CoreData
import Foundation
@_spi(Stores) import ObjectGraph
import Predicates
import RemoteStoreTesting
import TestSupport
import Testing

@testable import RemoteStore

/// Changes that were pending in files of commit 0d9e4ab8, whose records had their state in loose fields.
///
/// The bytes are what that commit's sources of the outbox (in the build of a later commit, whose files have the same form) have left of what
/// ``Kind/make(_:)`` does. The file's columns are the state and the key of the object.
enum EarlierRecords {
    /// What the change was, and how far it had come.
    enum Kind: String, CaseIterable {
        case insertWaiting, updateWaiting, deleteWaiting
        case insertLost, updateLost, deleteLost, insertLostEdited, insertLostDeleted
        case insertSending, updateSending, deleteSending, insertSendingAgain
        case insertUnknown, insertRetried, insertSought, insertLostBusy
        case insertFailed, updateFailed, deleteFailed
        case updateConflicting, deleteConflicting, updateDeletedByOthers

        /// What the backend promises.
        var saving: Resource.Saving {
            switch self {
            case .insertUnknown, .insertRetried: .init()
            case .insertSought, .insertSendingAgain: .init(identity: .newUUID)
            case .insertLostBusy: .init(identity: .newUUID, isIdempotent: true)
            default: .init(isIdempotent: true)
            }
        }

        var kind: Resource.Saving.Kind {
            rawValue.hasPrefix("insert") ? .insert : rawValue.hasPrefix("update") ? .update : .delete
        }

        /// Whether the backend has saved what was sent.
        var hasArrived: Bool { rawValue.contains("Lost") }

        /// Makes the objects, and what is pending of one of them, which was never sent.
        func prepare(_ world: OutboxWorld) throws -> NSManagedObjectID {
            world.backend.put("Tag", 1, ["label": "one"])
            world.backend.put("Tag", 2, ["label": "two"])
            world.backend.put("Band", 1, ["name": "The Beatles"])
            world.backend.put("Album", 1, ["title": "Help!", "year": 1965, "rating": 3.5, "tags": .many([1])])
            let tags = try world.fetch("Tag")
            let band = try #require(try world.fetch("Band").first)
            let album = try #require(try world.fetch("Album").first)
            world.backend.scriptSaves { _ in .fail(OutboxWorld.offline) }
            switch kind {
            case .insert:
                return try world.insert("Album", ["title": "Revolver", "year": 1966, "band": band, "tags": Set(tags)])
            case .update:
                try world.update(album, ["title": "Help! (remastered)", "rating": nil, "band": band, "tags": Set(tags.suffix(1))])
            case .delete: try world.delete(album)
            }
            return album
        }

        /// Lets the change come as far as its name says; what is on the disk then is what the program left that was killed.
        func make(_ world: OutboxWorld) async throws -> PendingRecord {
            let id = try prepare(world)
            world.backend.script { _ in .answer }
            func record() throws -> PendingRecord { try #require(try world.store.outbox.records().first) }
            func send() async throws { try await world.store.sendPending() }
            func held() async throws -> PendingRecord {
                var held: PendingRecord?
                try await world.sendPending { held = try record() }
                return try #require(held)
            }
            switch self {
            case .insertWaiting, .updateWaiting, .deleteWaiting: break
            case .insertLost, .updateLost, .deleteLost, .insertUnknown, .insertLostEdited, .insertLostDeleted, .insertRetried:
                world.backend.scriptSaves { _ in .loseAnswer(OutboxWorld.lost) }
                try await send()
                if self == .insertRetried { try world.store.retry(id) }
                if self == .insertLostEdited { try world.update(id, ["year": 1967, "notes": "edited", "tags": Set<NSManagedObjectID>()]) }
                if self == .insertLostDeleted { try world.delete(id) }
            case .insertLostBusy:
                world.backend.scriptSaves { _ in .loseAnswer(OutboxWorld.lost) }
                try await send()
                world.backend.scriptSaves { _ in .refuse(SimulatedNetwork.busy) }
                try await send()
            case .insertSending, .updateSending, .deleteSending: return try await held()
            case .insertSendingAgain:
                world.backend.scriptSaves { _ in .loseRequest(OutboxWorld.lost) }
                try await send()
                return try await held()
            case .insertSought:
                world.backend.scriptSaves { _ in .refuse(SimulatedNetwork.busy) }
                try await send()
                world.backend.script { _ in .fail(OutboxWorld.lost) }
                world.backend.scriptSaves { _ in .refuse(NSError(domain: "Shop", code: 409)) }
                try await send()
            case .insertFailed, .updateFailed, .deleteFailed:
                world.backend.scriptSaves { _ in .refuse(NSError(domain: "Shop", code: 422)) }
                try await send()
            case .updateConflicting, .deleteConflicting:
                try othersChange(world)
                try await send()
            case .updateDeletedByOthers:
                world.backend.remove("Album", 1)
                world.goOnline()
                try await send()
            }
            return try record()
        }

        /// What others have done to the album meanwhile.
        func othersChange(_ world: OutboxWorld) throws {
            world.backend.change("Album", 1, ["title": "Help! (mono)", "year": 1964])
            world.goOnline()
        }
    }
}

extension EarlierRecords {
    /// What the file has of a change: two columns and the bytes of the record.
    struct Stored {
        let state: PendingRecord.State
        let key: Int64
        let body: Data

        fileprivate init(_ state: PendingRecord.State, _ key: Int64, _ lines: String...) {
            (self.state, self.key, body) = (state, key, Data(base64Encoded: lines.joined()) ?? Data())
        }

        /// Opens it as a file does.
        func record() throws -> PendingRecord { try PendingRecord(LocalKey(root: "Album", key: key), sequence: 1, state: state, body) }
    }

    static func stored(_ kind: Kind) -> Stored {
        switch kind {
        case .insertWaiting:
            Stored(
                .waiting, 2,
                "AwVBbGJ1bfDBxdS1z/wcAAABAAAAAAEEdGFncwIABAAAAgAAAAAAAAAAAAAAAAAAAAAAABVF49jHa3L0")
        case .updateWaiting:
            Stored(
                .waiting, 1,
                "AwVBbGJ1berZutrywusDAQACAQEAAAADBGJhbmQBBnJhdGluZwADAAAAAAAADEAFdGl0bGUABQVIZWxwIQEEdGFncwEABAABAAIAAAEIAAAAAA",
                "AAAAAAAAAAAACq/jrRoL7qUA==")
        case .deleteWaiting:
            Stored(
                .waiting, 1,
                "AwVBbGJ1bbTKn7bq0fELAQACAQAAAAAAAAEIAAAAAAAAAAAAAAAAAADcwgul9jDiNg==")
        case .insertLost:
            Stored(
                .waiting, 2,
                "AwVBbGJ1babbs8Ww0IkSAAABAAEAAAEEdGFncwIABAAAAgAAAAABAAAFQWxidW0AAwRiYW5kAgACAAV0aXRsZQAFCFJldm9sdmVyBHllYXIAAt",
                "weBARiYW5kBHRhZ3MFdGl0bGUEeWVhcgEEdGFncwIABAAAAgAAAABNKXZrI6RIZ53xpZksEYHvAwRiYW5kAgACAAV0aXRsZQAFCFJldm9sdmVy",
                "BHllYXIAAtweAQR0YWdzAgAEAAACAAAAAAIAAAAAAAAAAAEQTlNVUkxFcnJvckRvbWFpbtkPRVRoZSBvcGVyYXRpb24gY291bGQgbm90IGJlIG",
                "NvbXBsZXRlZC4gKE5TVVJMRXJyb3JEb21haW4gZXJyb3IgLTEwMDUuKQAGwR9jU3Vn5vQ=")
        case .updateLost:
            Stored(
                .waiting, 1,
                "AwVBbGJ1bfqUpZiurEwBAAIBAQABAAMEYmFuZAEGcmF0aW5nAAMAAAAAAAAMQAV0aXRsZQAFBUhlbHAhAQR0YWdzAQAEAAEAAgAAAQgBAAEFQW",
                "xidW0BAAIDBGJhbmQCAAIABnJhdGluZwAABXRpdGxlAAUSSGVscCEgKHJlbWFzdGVyZWQpBARiYW5kBnJhdGluZwR0YWdzBXRpdGxlAQR0YWdz",
                "AQAEAAEAAgAAAQh89qetp7ZJWZHsaCwrQU6vAwRiYW5kAgACAAZyYXRpbmcAAAV0aXRsZQAFEkhlbHAhIChyZW1hc3RlcmVkKQEEdGFncwEABA",
                "ABAAIAAAACAAAAAAAAAAABEE5TVVJMRXJyb3JEb21haW7ZD0VUaGUgb3BlcmF0aW9uIGNvdWxkIG5vdCBiZSBjb21wbGV0ZWQuIChOU1VSTEVy",
                "cm9yRG9tYWluIGVycm9yIC0xMDA1LikABOCDtPGy6qhN")
        case .deleteLost:
            Stored(
                .waiting, 1,
                "AwVBbGJ1beK/3v3YitATAQACAQAAAQAAAAEIAQACBUFsYnVtAQACAAAAAQgX7Cb2qeNPTYKGYoCFsvfLAAAAAgAAAAAAAAAAARBOU1VSTEVycm",
                "9yRG9tYWlu2Q9FVGhlIG9wZXJhdGlvbiBjb3VsZCBub3QgYmUgY29tcGxldGVkLiAoTlNVUkxFcnJvckRvbWFpbiBlcnJvciAtMTAwNS4pAAQV",
                "XIiBwTvoiQ==")
        case .insertLostEdited:
            Stored(
                .waiting, 2,
                "AwVBbGJ1bbalyYnxwLUMAAABAAEAAAEEdGFncwAAAAABAAAFQWxidW0AAwRiYW5kAgACAAV0aXRsZQAFCFJldm9sdmVyBHllYXIAAtweBARiYW",
                "5kBHRhZ3MFdGl0bGUEeWVhcgEEdGFncwIABAAAAgAAAACIM2mZtIpCUokyW4he3bbuAwRiYW5kAgACAAV0aXRsZQAFCFJldm9sdmVyBHllYXIA",
                "AtweAQR0YWdzAgAEAAACAAAAAAIAAAAAAAAAAAEQTlNVUkxFcnJvckRvbWFpbtkPRVRoZSBvcGVyYXRpb24gY291bGQgbm90IGJlIGNvbXBsZX",
                "RlZC4gKE5TVVJMRXJyb3JEb21haW4gZXJyb3IgLTEwMDUuKQAG/4/NOKeM0e8=")
        case .insertLostDeleted:
            Stored(
                .waiting, 2,
                "AwVBbGJ1bfKh85mpvL8QAAAAAAEAAAEEdGFncwIABAAAAgAAAAABAAAFQWxidW0AAwRiYW5kAgACAAV0aXRsZQAFCFJldm9sdmVyBHllYXIAAt",
                "weBARiYW5kBHRhZ3MFdGl0bGUEeWVhcgEEdGFncwIABAAAAgAAAAD3cFnuZKhH0K3fcXAiGuHvAwRiYW5kAgACAAV0aXRsZQAFCFJldm9sdmVy",
                "BHllYXIAAtweAQR0YWdzAgAEAAACAAAAAAIAAAAAAAAAAAEQTlNVUkxFcnJvckRvbWFpbtkPRVRoZSBvcGVyYXRpb24gY291bGQgbm90IGJlIG",
                "NvbXBsZXRlZC4gKE5TVVJMRXJyb3JEb21haW4gZXJyb3IgLTEwMDUuKQAGX189kSzZfVg=")
        case .insertSending:
            Stored(
                .sending, 2,
                "AwVBbGJ1bZ7ng4fs/KQQAAABAAAAAAEEdGFncwIAAgAABAAAAAABAAAFQWxidW0AAwRiYW5kAgACAAV0aXRsZQAFCFJldm9sdmVyBHllYXIAAt",
                "weBARiYW5kBHRhZ3MFdGl0bGUEeWVhcgEEdGFncwIAAgAABAAAAAA5GkniJJhNkLI7eujkS66pAwRiYW5kAgACAAV0aXRsZQAFCFJldm9sdmVy",
                "BHllYXIAAtweAQR0YWdzAgACAAAEAAAAAAIAAAAAAAAAAAAABr8caOGMAjcC")
        case .updateSending:
            Stored(
                .sending, 1,
                "AwVBbGJ1bazy7p3/g8wcAQACAQEAAAADBGJhbmQBBnJhdGluZwADAAAAAAAADEAFdGl0bGUABQVIZWxwIQEEdGFncwEABAABAAIAAAEIAQABBU",
                "FsYnVtAQACAwRiYW5kAgACAAZyYXRpbmcAAAV0aXRsZQAFEkhlbHAhIChyZW1hc3RlcmVkKQQEYmFuZAZyYXRpbmcEdGFncwV0aXRsZQEEdGFn",
                "cwEABAABAAIAAAEIsVPQULL4R2e7y9BXrUs12QMEYmFuZAIAAgAGcmF0aW5nAAAFdGl0bGUABRJIZWxwISAocmVtYXN0ZXJlZCkBBHRhZ3MBAA",
                "QAAQACAAAAAgAAAAAAAAAAAAAE6fkrK5usXok=")
        case .deleteSending:
            Stored(
                .sending, 1,
                "AwVBbGJ1ba7P66H4x+seAQACAQAAAAAAAAEIAQACBUFsYnVtAQACAAAAAQjwmvzR9Q1LnpYHSO8fnx+QAAAAAgAAAAAAAAAAAAAEQ8nSYS8pxb",
                "s=")
        case .insertSendingAgain:
            Stored(
                .sending, 2,
                "AwVBbGJ1bbSu7on92rkCAQIPlAdNxVRB97J+6C/YoNj6AAEBAQAAAQR0YWdzAgACAAAEAAAAAAEAAAVBbGJ1bQECD5QHTcVUQfeyfugv2KDY+g",
                "MEYmFuZAIAAgAFdGl0bGUABQhSZXZvbHZlcgR5ZWFyAALcHgQEYmFuZAR0YWdzBXRpdGxlBHllYXIBBHRhZ3MCAAIAAAQAAAAAt4J6V7obTIG3",
                "IqskXQTyegMEYmFuZAIAAgAFdGl0bGUABQhSZXZvbHZlcgR5ZWFyAALcHgEEdGFncwIAAgAABAAAAAAEAAAAAAAAAAABEE5TVVJMRXJyb3JEb2",
                "1haW7ZD0VUaGUgb3BlcmF0aW9uIGNvdWxkIG5vdCBiZSBjb21wbGV0ZWQuIChOU1VSTEVycm9yRG9tYWluIGVycm9yIC0xMDA1LikABhEjWR/1",
                "KyBz")
        case .insertUnknown:
            Stored(
                .unknown, 2,
                "AwVBbGJ1bfSYwM2bn4cLAAABAAAAAAEEdGFncwIABAAAAgAAAAABAAAFQWxidW0AAwRiYW5kAgACAAV0aXRsZQAFCFJldm9sdmVyBHllYXIAAt",
                "weBARiYW5kBHRhZ3MFdGl0bGUEeWVhcgEEdGFncwIABAAAAgAAAAAVnrCJTH9LgYH+fWSD3quFAwRiYW5kAgACAAV0aXRsZQAFCFJldm9sdmVy",
                "BHllYXIAAtweAQR0YWdzAgAEAAACAAAAAAIAAAAAAAAAAAEQTlNVUkxFcnJvckRvbWFpbtkPRVRoZSBvcGVyYXRpb24gY291bGQgbm90IGJlIG",
                "NvbXBsZXRlZC4gKE5TVVJMRXJyb3JEb21haW4gZXJyb3IgLTEwMDUuKQAGfddHDW4sv7k=")
        case .insertRetried:
            Stored(
                .waiting, 2,
                "AwVBbGJ1bdTUpYPCyM0EAAABAQAAAAEEdGFncwIABAAAAgAAAAABAAAFQWxidW0AAwRiYW5kAgACAAV0aXRsZQAFCFJldm9sdmVyBHllYXIAAt",
                "weBARiYW5kBHRhZ3MFdGl0bGUEeWVhcgEEdGFncwIABAAAAgAAAABwkTrkS9dCtrhR2q07Lh3kAwRiYW5kAgACAAV0aXRsZQAFCFJldm9sdmVy",
                "BHllYXIAAtweAQR0YWdzAgAEAAACAAAAAAAAAAAAAAAAAAAABuZZd07pZTP3")
        case .insertSought:
            Stored(
                .waiting, 2,
                "AwVBbGJ1beiXgITrsOscAQLSv7jAnJpJkqsdZ6oWOYLZAAEAAAAAAQR0YWdzAgACAAAEAAAAAAEAAAVBbGJ1bQEC0r+4wJyaSZKrHWeqFjmC2Q",
                "MEYmFuZAIAAgAFdGl0bGUABQhSZXZvbHZlcgR5ZWFyAALcHgQEYmFuZAR0YWdzBXRpdGxlBHllYXIBBHRhZ3MCAAIAAAQAAAAAfEjcKmx9T/iq",
                "V18jPOUQ9AMEYmFuZAIAAgAFdGl0bGUABQhSZXZvbHZlcgR5ZWFyAALcHgEEdGFncwIAAgAABAAAAAAGAAAAAAAAAAABEE5TVVJMRXJyb3JEb2",
                "1haW7ZD0VUaGUgb3BlcmF0aW9uIGNvdWxkIG5vdCBiZSBjb21wbGV0ZWQuIChOU1VSTEVycm9yRG9tYWluIGVycm9yIC0xMDA1LikABpS7x5aY",
                "CGnR")
        case .insertLostBusy:
            Stored(
                .waiting, 2,
                "AwVBbGJ1beDqx9DR2dAFAQIMTSMnc0dCkrCNQjsUydQsAAEAAQAAAQR0YWdzAgACAAAEAAAAAAAABLKdrwCE18dBAShSZW1vdGVTdG9yZVRlc3",
                "RpbmcuU2ltdWxhdGVkTmV0d29yay5CdXN5AllUaGUgb3BlcmF0aW9uIGNvdWxkIG5vdCBiZSBjb21wbGV0ZWQuIChSZW1vdGVTdG9yZVRlc3Rp",
                "bmcuU2ltdWxhdGVkTmV0d29yay5CdXN5IGVycm9yIDEuKQAAlWbMuv7Nrzs=")
        case .insertFailed:
            Stored(
                .failed, 2,
                "AwVBbGJ1ba7xoJi9t9wbAAABAAAAAAEEdGFncwIABAAAAgAAAAAAAAIAAAAAAAAAAAEEU2hvcMwGN1RoZSBvcGVyYXRpb24gY291bGQgbm90IG",
                "JlIGNvbXBsZXRlZC4gKFNob3AgZXJyb3IgNDIyLikAAMweMsmqShTd")
        case .updateFailed:
            Stored(
                .failed, 1,
                "AwVBbGJ1bZDjrpjn7N8DAQACAQEAAAADBGJhbmQBBnJhdGluZwADAAAAAAAADEAFdGl0bGUABQVIZWxwIQEEdGFncwEABAABAAIAAAEIAAACAA",
                "AAAAAAAAABBFNob3DMBjdUaGUgb3BlcmF0aW9uIGNvdWxkIG5vdCBiZSBjb21wbGV0ZWQuIChTaG9wIGVycm9yIDQyMi4pAACNuxBEDlYu3w==")
        case .deleteFailed:
            Stored(
                .failed, 1,
                "AwVBbGJ1beCK1d2MuIMNAQACAQAAAAAAAAEIAAACAAAAAAAAAAABBFNob3DMBjdUaGUgb3BlcmF0aW9uIGNvdWxkIG5vdCBiZSBjb21wbGV0ZW",
                "QuIChTaG9wIGVycm9yIDQyMi4pAAAh8hZCYLDDqA==")
        case .updateConflicting:
            Stored(
                .conflicting, 1,
                "AwVBbGJ1bc62nor97kUBAAIBAQAAAQMEYmFuZAEGcmF0aW5nAAMAAAAAAAAMQAV0aXRsZQAFBUhlbHAhAQR0YWdzAQAEAAEAAgAAAQgAAQEBBX",
                "RpdGxlAAUMSGVscCEgKG1vbm8pAQoCAAAAAAAAAAAAAABKxPAUeLepdQ==")
        case .deleteConflicting:
            Stored(
                .conflicting, 1,
                "AwVBbGJ1baiH/MLQ9MQFAQACAQAAAAEAAAEIAAEBAgV0aXRsZQAFDEhlbHAhIChtb25vKQR5ZWFyAALYHgEKAgAAAAAAAAAAAAAACuZ0OrBswN",
                "I=")
        case .updateDeletedByOthers:
            Stored(
                .conflicting, 1,
                "AwVBbGJ1bbK0qeSElLwbAQACAQEAAAADBGJhbmQBBnJhdGluZwADAAAAAAAADEAFdGl0bGUABQVIZWxwIQEEdGFncwEABAABAAIAAAEIAAEAAA",
                "IAAAAAAAAAAAAAAJL/epxs8hzP")
        }
    }
}
