"""A declared shop, as its owner would write it: orders, items, products, support tickets.

The words are what people of both languages say, in any form.
"""

from retrieval.sql.schema import Dimension, Measure, Reference, Source, Table


def said(words: str) -> tuple[str, ...]:
    """Return the phrases between commas."""
    return tuple(words.split(", "))


_STATUS = Dimension(
    "status",
    "status",
    said("статус, состояние, state"),
    {
        "new": said("новый"),
        "paid": said("оплаченный, оплачен"),
        "shipped": said("отправленный, в пути, sent, in transit"),
        "delivered": said("доставленный, доставлен, доставили"),
        "cancelled": said("отменённый, отменён, отменил, отмена, canceled, cancellation"),
        "returned": said("возвращённый, возврат, вернул, return"),
    },
)
_ORDERS = Table(
    "orders",
    said("заказ, покупка, заказывал, purchase"),
    tenant_column="user_id",
    time_column="created_at",
    time_format="text",
    measures=(
        Measure(
            "total",
            "total",
            said(
                "сумма, сумма заказа, чек, потратил, трачу, трата, тратил, "
                "потрачено, заплатил, ушло, денег, стоимость заказа, стоил, "
                "дорогой, крупный, order total, order value, amount, spent, "
                "spend, spending, money, деньги, cost, pay"
            ),
            unit="RUB",
        ),
        Measure(
            "delivery_cost",
            "delivery_cost",
            said(
                "стоимость доставки, потратил на доставку, потрачено на доставку, "
                "плата за доставку, доставка стоила, delivery cost, delivery fee, "
                "shipping cost, shipping fee, spent on delivery, spend on "
                "delivery, spent on shipping, spend on shipping, cost of delivery"
            ),
            unit="RUB",
        ),
    ),
    dimensions=(
        _STATUS,
        Dimension(
            "city",
            "city",
            said("город, town"),
            {
                "Moscow": said("Москва, московский"),
                "Saint Petersburg": said("Петербург, Питер, Санкт-Петербург, СПб, St Petersburg"),
                "Kazan": said("Казань, казанский"),
            },
        ),
        Dimension(
            "channel",
            "channel",
            said("канал, канал продаж"),
            {
                "web": said("сайт, веб, website, site"),
                "app": said("приложение, мобильное приложение, mobile app"),
                "phone": said("телефон, звонок"),
            },
        ),
        Dimension(
            "payment",
            "payment",
            said("способ оплаты, тип оплаты, payment method, payment type"),
            {
                "card": said(
                    "карта, банковская карта, оплата картой, credit card, paid by "
                    "card, paid with card, оплачен картой, оплатил картой"
                ),
                "cash": said(
                    "наличные, нал, оплата наличными, paid in cash, paid with cash, "
                    "оплачен наличными, оплатил наличными"
                ),
                "sbp": said(
                    "СБП, система быстрых платежей, оплачен через СБП, оплатил через "
                    "СБП, paid with SBP, paid via SBP"
                ),
            },
        ),
    ),
)
_ITEMS = Table(
    "items",
    said("позиция, товарная позиция, line item, item"),
    measures=(
        Measure(
            "quantity",
            "quantity",
            said("штука, количество штук, единица, единица товара, unit, units sold, piece"),
        ),
        Measure(
            "amount",
            "amount",
            said("выручка, продажи, оборот, revenue, sales, turnover"),
            unit="RUB",
        ),
    ),
    references=(Reference("order_id", "orders"), Reference("product_id", "products")),
)
_PRODUCTS = Table(
    "products",
    said("товар, продукт"),
    measures=(Measure("price", "price", said("цена, дорогой, expensive"), "avg", "RUB"),),
    dimensions=(
        Dimension("product", "name", said("товар, продукт, название товара, product name")),
        Dimension(
            "category",
            "category",
            said("категория, раздел, product category"),
            {
                "electronics": said("электроника, техника"),
                "books": said("книга, book"),
                "clothes": said("одежда, clothing"),
                "home": said("товары для дома, для дома, home goods, household"),
            },
        ),
        Dimension(
            "brand",
            "brand",
            said("бренд, марка, производитель, maker"),
            {"Aurora": said("Аврора"), "Borealis": said("Бореалис"), "Cirrus": said("Циррус")},
        ),
    ),
)
_TICKETS = Table(
    "tickets",
    said(
        "обращение, обращение в поддержку, тикет, жалоба, жаловался, "
        "обращался, обращался в поддержку, обращался в службу поддержки, "
        "заявка в поддержку, ticket, support ticket, complaint, complain, "
        "support request, contact support, contacted support"
    ),
    tenant_column="user_id",
    time_column="opened_at",
    time_format="text",
    measures=(
        Measure("rating", "rating", said("оценка, балл, score, mark"), "avg"),
        Measure(
            "reply_minutes",
            "reply_minutes",
            said(
                "время ответа, ждал ответа, долгий, response time, reply time, "
                "wait for a reply, long"
            ),
            "avg",
            "min",
        ),
    ),
    dimensions=(
        Dimension(
            "topic",
            "topic",
            said("тема, повод, subject"),
            {
                "delivery": said("доставка, shipping"),
                "payment": said("оплата, платёж, billing"),
                "quality": said("качество, брак, defect"),
            },
        ),
        Dimension(
            "state",
            "state",
            said("статус, состояние, status"),
            {
                "open": said("открытый, открыт, нерешённый, unresolved"),
                "closed": said("закрытый, закрыт, закрыли, решённый, решён, resolved"),
                "waiting": said("ожидающий, ждёт ответа, pending, waiting for a reply"),
            },
        ),
    ),
    references=(Reference("order_id", "orders"),),
)


def shop(url: str) -> Source:
    """Return the shop: orders, their items, products, support tickets; times in Moscow."""
    return Source("shop", url, (_ORDERS, _ITEMS, _PRODUCTS, _TICKETS), "Europe/Moscow")
