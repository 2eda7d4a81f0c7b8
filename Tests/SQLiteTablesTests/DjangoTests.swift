import CoreData
import Foundation
import TestSupport
import Testing

/// Where the programs are that make tables: `Scripts/check-schemas` installs them, and says so.
private let programs = ProcessInfo.processInfo.environment["COREDATA_SCHEMA_PROGRAMS"]

@Suite("The db.sqlite3 of Django", .enabled(if: programs != nil)) struct DjangoTests {
    private struct Failure: Error, CustomStringConvertible { let description: String }

    private func run(_ arguments: [String], in folder: URL) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(programs)).appendingPathComponent("python3")
        process.arguments = ["manage.py"] + arguments
        process.currentDirectoryURL = folder
        process.environment = ProcessInfo.processInfo.environment.merging(["DJANGO_SUPERUSER_PASSWORD": "secret"]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw Failure(description: String(decoding: text, as: UTF8.self)) }
    }

    @Test("The tables of a project are drafted, walked and edited, and the project reads what was saved") func project() throws {
        let file = try OthersFile("")
        let folder = file.url.deletingLastPathComponent()
        for (name, text) in Self.files {
            let url = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
        for command in [
            ["makemigrations", "shop"], ["migrate"], ["createsuperuser", "--noinput", "--username", "olga", "--email", "o@x.pl"],
        ] { try run(command, in: folder) }
        let draft = try file.draft()
        #expect(draft.unmapped.isEmpty, "\(draft.unmapped)")
        expect(
            draft.model.entities.compactMap(\.name).sorted(),
            equals: [
                "AuthGroup", "AuthPermission", "AuthUser", "DjangoAdminLog", "DjangoContentType", "DjangoMigrations", "DjangoSession",
                "ShopNote", "ShopProduct", "ShopTag",
            ])
        let context = try file.open(draft.model)
        let (day, moment) = (Date(timeIntervalSince1970: 86_400), Date(timeIntervalSince1970: 1_700_000_000.5))
        try context.performAndWait {
            let user = try context.one("AuthUser", "username == 'olga' AND isSuperuser == YES AND dateJoined > %@", [Date.distantPast])
            let group = context.insert("AuthGroup", ["name": "Sellers"])
            let permissions = try context.found("AuthPermission", "contentType.appLabel == 'shop' AND codename CONTAINS 'product'")
            expect(permissions.count, equals: 4)
            group.setValue(Set(permissions), forKey: "permissions")
            user.setValue([group] as Set<NSManagedObject>, forKey: "groups")
            let tag = context.insert("ShopTag", ["slug": "new"])
            let product = context.insert(
                "ShopProduct",
                [
                    "name": "Bag", "price": NSDecimalNumber(string: "12.50"), "details": ["size": [1, 2]] as [String: Any], "day": day,
                    "moment": moment, "isThere": true,
                ])
            product.setValue(user, forKey: "seller")
            product.setValue([tag] as Set<NSManagedObject>, forKey: "tags")
            context.insert("ShopNote", ["text": "Hello"]).setValue(product, forKey: "product")
            try context.save()
        }
        try run(["shell", "-c", Self.check], in: folder)
        // Django checks foreign keys, too.
        try run(["check"], in: folder)
        let other = try file.open(draft.model)
        try other.performAndWait {
            let product = try other.one("ShopProduct", "ANY tags.slug == 'new' AND seller.username == 'olga' AND shopNote.text == 'Hello'")
            expect(product.value(forKey: "moment") as? Date, equals: moment)
            expect(product.value(forKey: "day") as? Date, equals: day)
            expect((product.value(forKey: "details") as? [String: Any])?["size"] as? [Int], equals: [1, 2])
            try expect(other.found("AuthPermission", "ANY groups.users.username == 'olga'").count, equals: 4)
            other.delete(try #require(product.value(forKey: "shopNote") as? NSManagedObject))
            other.delete(product)
            try other.save()
            #expect(try other.found("ShopProduct").isEmpty)
        }
    }

    private static let check = """
        from shop.models import Product
        product = Product.objects.get()
        assert str(product.price) == '12.50' and product.details == {'size': [1, 2]} and product.is_there is True, vars(product)
        assert str(product.day) == '1970-01-02' and product.moment.isoformat() == '2023-11-14T22:13:20.500000+00:00', vars(product)
        assert product.tags.get().slug == 'new' and product.note.text == 'Hello' and product.seller.groups.get().permissions.count() == 4
        """

    private static let files = [
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
        DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "others.sqlite3"}}
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
            details = models.JSONField(default=dict)
            day = models.DateField(null=True)
            moment = models.DateTimeField()
            time = models.TimeField(null=True)
            is_there = models.BooleanField(default=False)
            tags = models.ManyToManyField(Tag, related_name="products")
            seller = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)

        class Note(models.Model):
            product = models.OneToOneField(Product, on_delete=models.CASCADE, primary_key=True)
            text = models.TextField()
            length = models.DurationField(null=True)
        """,
    ]
}
