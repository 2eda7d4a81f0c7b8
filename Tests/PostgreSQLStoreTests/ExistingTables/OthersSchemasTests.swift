#if PostgreSQL
import CoreData
import Foundation
import Testing
import TestSupport

@testable import PostgreSQLStore

/// The programs that make schemas.
private enum SchemaPrograms {
    static let folder = ProcessInfo.processInfo.environment["COREDATA_SCHEMA_PROGRAMS"]
}

/// Schemas that other programs make by their own commands. `Scripts/check-schemas` installs those programs, and says where they are.
@Suite(
    "Schemas of Django and Kinto", .enabled(if: SchemaPrograms.folder != nil),
    .serialized)
struct OthersSchemasTests {
    private struct Failure: Error, CustomStringConvertible { let description: String }

    private func run(_ program: String, _ arguments: [String], in folder: URL, _ environment: [String: String] = [:]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(SchemaPrograms.folder)).appendingPathComponent(program)
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw Failure(description: String(decoding: text, as: UTF8.self)) }
    }

    /// Makes an empty database, and calls `body` with a folder for files.
    private func database(_ body: (_ name: String, _ folder: URL) throws -> Void) async throws -> LibraryDatabase {
        let name = "others_" + UUID().uuidString.replacing("-", with: "").prefix(8).lowercased()
        let scratch = try ScratchFolder("others")
        defer { scratch.remove() }
        let folder = scratch.url
        try await LibraryDatabase(";").execute("CREATE DATABASE \(name)")
        try body(name, folder)
        return try LibraryDatabase(existing: name)
    }

    private func write(_ files: [String: String], in folder: URL) throws {
        for (name, text) in files {
            let url = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
    }

    @Test("The tables of a Django project are drafted, walked and edited") func django() async throws {
        let port = try server().port
        let database = try await database { name, folder in
            try write(Self.project(name, port), in: folder)
            for command in [
                ["makemigrations", "shop"], ["migrate"], ["createsuperuser", "--noinput", "--username", "olga", "--email", "o@x.pl"],
            ] {
                try run("python3", ["manage.py"] + command, in: folder, ["DJANGO_SUPERUSER_PASSWORD": "secret"])
            }
        }
        let draft = try await database.draft()
        #expect(draft.unmapped.isEmpty, "\(draft.unmapped)")
        expect(
            draft.model.entities.compactMap(\.name).sorted(),
            equals: [
                "AuthGroup", "AuthPermission", "AuthUser", "DjangoAdminLog", "DjangoContentType", "DjangoMigrations", "DjangoSession",
                "ShopNote", "ShopProduct", "ShopTag",
            ])
        let context = try await database.open(draft.model)
        try await context.perform {
            let user = try context.one("AuthUser", "username == 'olga' AND isSuperuser == YES")
            let group = context.insert("AuthGroup", ["name": "Sellers"])
            let permissions = try context.found("AuthPermission", "contentType.appLabel == 'shop' AND codename CONTAINS 'product'")
            expect(permissions.count, equals: 4)
            group.setValue(Set(permissions), forKey: "permissions")
            user.setValue([group] as Set<NSManagedObject>, forKey: "groups")
            let tag = context.insert("ShopTag", ["slug": "new"])
            let product = context.insert(
                "ShopProduct",
                ["name": "Bag", "price": NSDecimalNumber(string: "12.50"), "state": "D", "details": ["size": [1, 2]] as [String: Any]])
            product.setValue(user, forKey: "seller")
            product.setValue([tag] as Set<NSManagedObject>, forKey: "tags")
            context.insert("ShopNote", ["text": "Hello", "length": "01:30:00"]).setValue(product, forKey: "product")
            try context.save()
            product.setValue("S", forKey: "state")
            try context.save()
        }
        let other = try await database.open(draft.model)
        try await other.perform {
            let product = try other.one("ShopProduct", "ANY tags.slug == 'new' AND seller.username == 'olga' AND shopNote.text == 'Hello'")
            expect(product.value(forKey: "state") as? String, equals: "S")
            expect((product.value(forKey: "details") as? [String: Any])?["size"] as? [Int], equals: [1, 2])
            try expect(other.found("AuthPermission", "ANY groups.users.username == 'olga'").count, equals: 4)
            other.delete(try #require(product.value(forKey: "shopNote") as? NSManagedObject))
            other.delete(product)
            try other.save()
            #expect(try other.found("ShopProduct").isEmpty)
        }
    }

    @Test("The tables of Kinto are drafted, walked and edited") func kinto() async throws {
        let port = try server().port
        let database = try await database { name, folder in
            let url = "postgresql://tester@127.0.0.1:\(port)/\(name)"
            let parts = ["storage", "permission", "cache"].map { part in
                "kinto.\(part)_backend = kinto.core.\(part).postgresql\nkinto.\(part)_url = \(url)\n"
            }
            try write(["kinto.ini": "[app:main]\nuse = egg:kinto\n" + parts.joined()], in: folder)
            try run("kinto", ["migrate", "--ini", "kinto.ini"], in: folder)
        }
        let draft = try await database.draft()
        #expect(draft.unmapped.isEmpty && draft.notes.contains { $0.hasPrefix("The table metadata has no key") })
        let context = try await database.open(draft.model)
        let uri = try await context.perform {
            let bucket = context.insert(
                "Objects",
                [
                    "id": "b1", "parentId": "", "resourceName": "bucket", "deleted": false, "data": ["title": "ąę"],
                    "lastModified": Date(timeIntervalSince1970: 1_700_000_000),
                ])
            _ = context.insert("AccessControlEntries", ["objectId": "/buckets/b1", "permission": "write", "principal": "account:o"])
            try context.save()
            // The trigger of the table may give another time than the program.
            #expect(bucket.value(forKey: "lastModified") is Date)
            bucket.setValue(["title": "other"], forKey: "data")
            try context.save()
            return bucket.objectID.uriRepresentation()
        }
        let other = try await database.open(draft.model)
        try await other.perform {
            let id = try #require(other.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri))
            let bucket = try other.existingObject(with: id)
            expect((bucket.value(forKey: "data") as? [String: String]), equals: ["title": "other"])
            try expect(other.found("AccessControlEntries", "objectId BEGINSWITH '/buckets/' AND principal == 'account:o'").count, equals: 1)
            other.delete(bucket)
            try other.save()
            #expect(try other.found("Objects").isEmpty)
        }
    }

    private static func project(_ database: String, _ port: Int) -> [String: String] {
        [
            "manage.py": """
            import os, sys
            os.environ["DJANGO_SETTINGS_MODULE"] = "settings"
            from django.core.management import execute_from_command_line
            execute_from_command_line(sys.argv)
            """,
            "settings.py": """
            SECRET_KEY = "test"
            INSTALLED_APPS = ["django.contrib." + name for name in ["admin", "auth", "contenttypes", "sessions", "messages"]] + ["shop"]
            MIDDLEWARE = ["django.contrib.sessions.middleware.SessionMiddleware",
                "django.contrib.auth.middleware.AuthenticationMiddleware", "django.contrib.messages.middleware.MessageMiddleware"]
            TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True, "OPTIONS": {"context_processors": [
                "django.template.context_processors.request", "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages"]}}]
            DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "\(database)", "USER": "tester",
                "HOST": "127.0.0.1", "PORT": "\(port)"}}
            USE_TZ = True
            DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
            """,
            "shop/__init__.py": "",
            "shop/models.py": """
            import uuid
            from django.conf import settings
            from django.db import models

            class Tag(models.Model):
                slug = models.SlugField(primary_key=True)

            class Product(models.Model):
                id = models.UUIDField(primary_key=True, default=uuid.uuid4)
                name = models.CharField(max_length=50, unique=True)
                price = models.DecimalField(max_digits=8, decimal_places=2)
                state = models.CharField(max_length=1, choices=[("D", "Draft"), ("S", "Sold")], default="D")
                details = models.JSONField(default=dict)
                tags = models.ManyToManyField(Tag, related_name="products")
                seller = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)

            class Note(models.Model):
                product = models.OneToOneField(Product, on_delete=models.CASCADE, primary_key=True)
                text = models.TextField()
                length = models.DurationField(null=True)
            """,
        ]
    }
}
#endif
